// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/sim/write_log.h"

#include <string.h>

namespace thimble::ethos_u::sim {

WriteSink WriteLog::sink() {
  WriteSink sink;
  sink.user = this;
  sink.write = [](void* user, uint8_t region, uint64_t address, const uint8_t* data,
                  uint64_t bytes) {
    return static_cast<WriteLog*>(user)->append(region, address, data, bytes);
  };
  return sink;
}

WriteLog::Entry WriteLog::entry_at(size_t offset) const {
  Entry entry;
  memcpy(&entry, data_ + offset, sizeof entry);
  return entry;
}

bool WriteLog::append(uint8_t region, uint64_t address, const uint8_t* data, uint64_t length) {
  const auto bytes = static_cast<size_t>(length);
  if (length > UINT32_MAX / 2 || capacity_ > UINT32_MAX) return false;
  if (size_ != 0) {  // merge with the previous entry if adjacent
    Entry newest = entry_at(newest_);
    const size_t end = newest_ + sizeof newest + newest.bytes;
    if (newest.region == region && newest.address + newest.bytes == address &&
        newest.bytes < UINT32_MAX / 2 && padded(end + bytes) <= capacity_) {
      memcpy(data_ + end, data, bytes);
      newest.bytes += static_cast<uint32_t>(bytes);
      memcpy(data_ + newest_, &newest, sizeof newest);
      size_ = padded(end + bytes);
      return true;
    }
  }
  if (capacity_ < size_ || capacity_ - size_ < sizeof(Entry) + padded(bytes)) return false;
  Entry entry;
  memset(&entry, 0, sizeof entry);
  entry.address = address;
  entry.bytes = static_cast<uint32_t>(bytes);
  entry.previous = static_cast<uint32_t>(newest_);
  entry.region = region;
  newest_ = size_;
  memcpy(data_ + size_, &entry, sizeof entry);
  memcpy(data_ + size_ + sizeof entry, data, bytes);
  size_ += sizeof entry + padded(bytes);
  return true;
}

void WriteLog::exchange_entry(Memory& memory, size_t offset, const Entry& entry,
                              const Filter* filter) const {
  uint8_t* logged = data_ + offset + sizeof entry;
  uint8_t buffer[256];
  for (uint32_t done = 0; done < entry.bytes;) {
    const uint32_t left = entry.bytes - done;
    const uint32_t piece = left < sizeof buffer ? left : static_cast<uint32_t>(sizeof buffer);
    const uint8_t* there = memory.read(entry.region, entry.address + done, piece);
    memcpy(buffer, there, piece);
    for (uint32_t i = 0; i < piece; ++i) {
      if (filter != nullptr &&
          !filter->shown(filter->user, entry.region, entry.address + done + i)) {
        continue;
      }
      const uint8_t old = buffer[i];
      buffer[i] = logged[done + i];
      logged[done + i] = old;
    }
    (void)memory.commit(entry.region, entry.address + done, buffer, piece);
    done += piece;
  }
}

void WriteLog::exchange(Memory& memory, bool forward, const Filter* filter) const {
  if (size_ == 0) return;
  if (forward) {
    for (size_t at = 0; at < size_;) {
      const Entry entry = entry_at(at);
      exchange_entry(memory, at, entry, filter);
      at += sizeof entry + padded(entry.bytes);
    }
    return;
  }
  for (size_t at = newest_;;) {
    const Entry entry = entry_at(at);
    exchange_entry(memory, at, entry, filter);
    if (at == 0) return;
    at = entry.previous;
  }
}

bool WriteLog::commit(Memory& memory) const {
  for (size_t at = 0; at < size_;) {
    const Entry entry = entry_at(at);
    if (!memory.commit(entry.region, entry.address, data_ + at + sizeof entry, entry.bytes)) {
      return false;
    }
    at += sizeof entry + padded(entry.bytes);
  }
  return true;
}

bool WriteLog::patch(const WriteLog& other, const Filter& filter) {
  if (size_ != other.size_) return false;
  for (size_t at = 0; at < size_;) {
    const Entry entry = entry_at(at);
    const Entry same = other.entry_at(at);
    if (same.address != entry.address || same.bytes != entry.bytes || same.region != entry.region) {
      return false;
    }
    uint8_t* mine = data_ + at + sizeof entry;
    const uint8_t* theirs = other.data_ + at + sizeof entry;
    for (uint32_t i = 0; i < entry.bytes; ++i) {
      if (filter.shown(filter.user, entry.region, entry.address + i)) mine[i] = theirs[i];
    }
    at += sizeof entry + padded(entry.bytes);
  }
  return true;
}

}  // namespace thimble::ethos_u::sim
