import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openFiles } from '../../../src/storage/files/open-files.ts'
import type { BlobHost } from '../../contracts/storage/blob-kit.ts'
import { describeBlobs } from '../../contracts/storage/blobs-suite.ts'

describeBlobs('files', {
  async open({ clock }) {
    const folder = await mkdtemp(join(tmpdir(), 'reflexarc-files-'))
    let medium = await openFiles({ folder, clock })
    const host = (): BlobHost => {
      const opened = medium
      return { tenant: (id) => ({ blobs: opened.tenant(id) }), close: () => opened.close() }
    }
    return {
      storage: host(),
      async reopen() {
        await medium.close()
        medium = await openFiles({ folder, clock })
        return host()
      },
      async destroy() {
        await medium.close()
        await rm(folder, { recursive: true })
      },
    }
  },
})
