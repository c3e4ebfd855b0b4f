import { afterAll, beforeAll } from 'vitest'
import type { Storage } from '../../../../src/storage/contract.ts'
import { openFiles } from '../../../../src/storage/files/open-files.ts'
import { openPostgres } from '../../../../src/storage/postgres/open.ts'
import { describeWithPostgres, type PostgresServer } from '../../../support/postgres-server.ts'
import { testFolder } from '../../../support/test-folder.ts'
import { keptInputs } from './kept-suite.ts'

const folder = testFolder()

describeWithPostgres('kept inputs on PostgreSQL', (start) => {
  let server: PostgresServer
  let storage: Storage
  let tenants = 0
  beforeAll(async () => {
    server = await start()
    storage = await openPostgres({ url: server.url, schema: 'inputs', blobs: await openFiles({ folder }) })
  })
  afterAll(async () => {
    await storage.close()
    await server.stop()
  })
  keptInputs('PostgreSQL', async () => storage.tenant(`p${++tenants}`), 20)
})
