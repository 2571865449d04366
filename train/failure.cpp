#include "train/failure.h"

#include <filesystem>
#include <new>

#include "train/report/option_names.h"
#include "train/session/atomic_file.h"

namespace lethe {

Failure failure_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    return {with_options(error.what()), error.code};
  } catch (const std::filesystem::filesystem_error& error) {
    return {error_of(error).what(), Exit::Data};
  } catch (const std::bad_alloc&) {
    return {"the machine has no memory left", Exit::Device};
  } catch (const std::exception& error) {
    return {error.what(), Exit::Internal};
  }
}

}  // namespace lethe
