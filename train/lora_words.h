// What --lora and --lora-targets say: "r=16,alpha=32,rslora" and "q_proj,v_proj=32/64".
#pragma once
#include <string>
#include <vector>

#include "framework/builder/lora.h"

namespace lethe {

/// As a list of such an option: nothing, whatever a network's file or a run says.
inline constexpr const char* kNoWords = "none";

/// "" if the text is one of --lora.
std::string complaint_about_lora_words(const std::string& text);
/// All but the targets and what trains beside; what the text leaves out is as PEFT has it.
void read_lora_words(const std::string& text, LoraSetting& lora);
/// The same setting has the same words.
std::string lora_words(const LoraSetting& lora);

/// "" if the text is one of --lora-targets.
std::string complaint_about_lora_targets(const std::string& text);
std::vector<LoraTarget> lora_targets_in(const std::string& text);
std::string lora_targets(const LoraSetting& lora);

}  // namespace lethe
