import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { MemoryDisk } from '../../../src/storage/memory/memory-disk.ts'
import { describeBlobs } from '../../contracts/storage/blobs-suite.ts'
import { describeCollection } from '../../contracts/storage/collection-suite.ts'
import { describeCommit } from '../../contracts/storage/commit-suite.ts'
import { describeFence } from '../../contracts/storage/fence-suite.ts'
import { describeLog } from '../../contracts/storage/log-suite.ts'
import type { Medium } from '../../contracts/storage/medium.ts'
import { describeSeries } from '../../contracts/storage/series-suite.ts'

const memory: Medium = {
  async open({ clock }) {
    const disk = new MemoryDisk()
    let storage = openMemory({ clock, disk })
    return {
      storage,
      async reopen() {
        await storage.close()
        storage = openMemory({ clock, disk })
        return storage
      },
      destroy: () => storage.close(),
    }
  },
}

describeCollection('memory', memory)
describeLog('memory', memory)
describeCommit('memory', memory)
describeFence('memory', memory)
describeSeries('memory', memory)
describeBlobs('memory', memory)
