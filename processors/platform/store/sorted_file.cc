/* See sorted_file.h. */
#include "store/sorted_file.h"

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>

extern "C" {
#include "base/mem.h"
}

namespace
{
/* The disk begins to write while the rest of the file is made, so that the sync waits for little.
 */
constexpr uint64_t WRITTEN_BYTES = 1 << 20;
constexpr size_t LINE_BYTES = 64, AHEAD_ROWS = 16, AHEAD_BYTES = 256, LENT_AHEAD_BYTES = 1024;

rocksdb::EnvOptions env_options()
{
    rocksdb::EnvOptions options;
    options.bytes_per_sync = WRITTEN_BYTES;
    return options;
}

/* Begins to write the rest of the file, and waits for nothing: RocksDB syncs a file again when it
 * ingests it. */
class unsynced_file : public rocksdb::FSWritableFileOwnerWrapper
{
  public:
    explicit unsynced_file(std::unique_ptr<rocksdb::FSWritableFile> &&file)
        : FSWritableFileOwnerWrapper(std::move(file))
    {
    }
    rocksdb::IOStatus Sync(const rocksdb::IOOptions &o, rocksdb::IODebugContext *debug) override
    {
        return target()->RangeSync(0, target()->GetFileSize(o, debug), o, debug);
    }
};

class unsynced_files : public rocksdb::FileSystemWrapper
{
  public:
    unsynced_files() : FileSystemWrapper(rocksdb::FileSystem::Default())
    {
    }
    const char *Name() const override
    {
        return "unsynced";
    }
    rocksdb::IOStatus NewWritableFile(const std::string &name, const rocksdb::FileOptions &o,
                                      std::unique_ptr<rocksdb::FSWritableFile> *ret_file,
                                      rocksdb::IODebugContext *debug) override
    {
        std::unique_ptr<rocksdb::FSWritableFile> file;
        rocksdb::IOStatus status = target()->NewWritableFile(name, o, &file, debug);
        if (status.ok())
            ret_file->reset(new unsynced_file(std::move(file)));
        return status;
    }
};

rocksdb::Options options_of(int filter_bits, size_t prefix_bytes, size_t block_bytes,
                            rocksdb::Env *env)
{
    rocksdb::BlockBasedTableOptions table;
    rocksdb::Options options;
    options.env = env;
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(filter_bits));
    table.block_size = block_bytes;
    table.format_version = 5;
    options.compression = rocksdb::kNoCompression;
    if (prefix_bytes)
        options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(prefix_bytes));
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    return options;
}

void prefetch(const char *data, size_t bytes, size_t most)
{
    for (size_t at = 0; at < bytes && at < most; at += LINE_BYTES)
        __builtin_prefetch(data + at);
}

/* Rows are stored in order of arrival, so reading them in key order jumps through memory; without
 * prefetching, half of the time was waiting. */
void fetch(const sp_write_batch *batch, size_t i)
{
    if (i >= batch->count)
        return;
    const struct sp_write *w = &batch->writes[i];
    if (w->lent) {
        prefetch(sp_write_batch_value(batch, w).data, w->value_len, LENT_AHEAD_BYTES);
        return;
    }
    prefetch(batch->bytes.data + w->at, batch->bytes.len - w->at, AHEAD_BYTES);
}

/* The place of a value that is not in the batch must be fetched before its bytes. */
void fetch_place(const sp_write_batch *batch, size_t i)
{
    if (i < batch->count && batch->writes[i].lent)
        __builtin_prefetch(batch->bytes.data + batch->writes[i].at);
}

rocksdb::Slice slice(struct sp_view v)
{
    return {v.data, v.len};
}
} // namespace

struct sp_sorted_file {
    sp_sorted_file(int filter_bits, size_t prefix_bytes, size_t block_bytes)
        : env(rocksdb::NewCompositeEnv(std::make_shared<unsynced_files>())),
          options(options_of(filter_bits, prefix_bytes, block_bytes, env.get())),
          writer(env_options(), options, nullptr, /*invalidate_page_cache=*/false)
    {
    }
    std::unique_ptr<rocksdb::Env> env;
    rocksdb::Options options;
    rocksdb::SstFileWriter writer;
};

extern "C" struct sp_sorted_file *sp_sorted_file_new(int filter_bits, size_t prefix_bytes,
                                                     size_t block_bytes)
{
    return new sp_sorted_file(filter_bits, prefix_bytes, block_bytes);
}

extern "C" void sp_sorted_file_free(struct sp_sorted_file *f)
{
    delete f;
}

extern "C" char *sp_sorted_file_write(struct sp_sorted_file *f, const char *path,
                                      const struct sp_write_batch *batch)
{
    rocksdb::Status status = f->writer.Open(path);
    for (size_t i = 0; i < batch->count && status.ok(); i++) {
        const struct sp_write *w = &batch->writes[i];
        rocksdb::Slice key = slice(sp_write_batch_key(batch, w));
        fetch_place(batch, i + 2 * AHEAD_ROWS);
        fetch(batch, i + AHEAD_ROWS);
        status = w->value_len == SP_WRITE_ERASED
                     ? f->writer.Delete(key)
                     : f->writer.Put(key, slice(sp_write_batch_value(batch, w)));
    }
    if (status.ok())
        status = f->writer.Finish();
    return status.ok() ? nullptr : sp_strdup(status.ToString().c_str());
}
