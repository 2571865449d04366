// Images with a label for each pixel, for networks that tell what is where.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "train/data/data_spec.h"
#include "train/data/dataset.h"

namespace lethe {

class Masks : public ImageSet {
 public:
  std::int64_t labels() const override { return info_.image.height * info_.image.width; }
  /// Images are normalised; in training they are cropped and flipped together with their labels. Fails for other
  /// augmentations.
  std::unique_ptr<SampleReader> reader(const ReadOptions& options) const override;
  /// Writes image `index` as info().image.bytes() bytes, and its labels [height, width]. Always the same for the same
  /// arguments; may be called from several threads. Fails with Exit::Data if a file cannot be read.
  virtual void read(Split split, std::int64_t index, CropAt crop, std::uint8_t* pixels, std::int32_t* labels) const = 0;

 protected:
  using ImageSet::ImageSet;
};

/// Opens what `spec` names, for a network that takes such images and tells so many classes apart at each pixel, and
/// whose loss ignores such labels:
///   shape-masks[:train=N,test=M]  synthetic[:N]  masks:IMAGES,MASKS[,ignore=N][,resize=N][,max-pixels=N][,val=X]
/// Fails with Exit::Usage on an unknown spec, with Exit::Data on fewer classes than it takes.
std::unique_ptr<Masks> open_masks(const std::string& spec, const ImageShape& image, std::int64_t classes,
                                  std::uint64_t seed, std::optional<std::int64_t> ignored = {},
                                  const Notify& notify = {});

/// Images and masks.
struct MasksSpec {
  std::string images = {}, masks = {};      // directories
  std::optional<std::int64_t> ignore = {};  // the value of pixels that do not count
  FolderOptions options = {};
};
/// Of a spec "masks:IMAGES,MASKS,ignore=N,resize=N,max-pixels=N,val=X"; fails with Exit::Usage.
MasksSpec masks_spec(const DataSpec& spec);

/// Opens them for a network that tells so many classes apart and ignores such labels. Images are PNG or JPEG files in
/// one folder; masks are PNG files (mask_file.h) of the same size in the other, and belong to the image whose name is
/// the same but for the ending; a file without the other is passed over and counted. Files stand in `train` and in
/// `test` (or `val`) of both folders, or in the folders themselves: of these every tenth by name is for tests, or with
/// a share held out that share, by a hash of the name. Both are scaled and cropped as photograph.h does it; a pixel of
/// a mask becomes the nearest. Files are decoded when they are read; a value that is no class and not ignored fails
/// then, with file and pixel. Gives a line of what it found.
std::unique_ptr<Masks> open_mask_folders(const MasksSpec& spec, const ImageShape& image, std::int64_t classes,
                                         std::optional<std::int64_t> ignored, const Notify& notify);

}  // namespace lethe
