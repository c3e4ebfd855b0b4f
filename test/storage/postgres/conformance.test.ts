/**
 * Runs the suites that every medium passes on PostgreSQL: one server, with a separate schema for each opened medium.
 */
import { afterAll, beforeAll } from 'vitest'
import { openPostgres } from '../../../src/storage/postgres/open.ts'
import { describeCollection } from '../../contracts/storage/collection-suite.ts'
import { describeCommit } from '../../contracts/storage/commit-suite.ts'
import { describeFence } from '../../contracts/storage/fence-suite.ts'
import { describeLog } from '../../contracts/storage/log-suite.ts'
import type { Medium } from '../../contracts/storage/medium.ts'
import { describeSeries } from '../../contracts/storage/series-suite.ts'
import { describeWithPostgres, type PostgresServer } from '../../support/postgres-server.ts'
import { noBlobs } from './no-blobs.ts'

describeWithPostgres('storage on PostgreSQL', (start) => {
  let server: PostgresServer
  let schemas = 0
  beforeAll(async () => {
    server = await start()
  })
  afterAll(() => server.stop())

  const medium: Medium = {
    async open({ clock }) {
      schemas += 1
      const schema = `medium ${schemas}`
      const opening = () => openPostgres({ url: server.url, schema, blobs: noBlobs(), clock })
      let storage = await opening()
      return {
        storage,
        reopen: async () => {
          await storage.close()
          storage = await opening()
          return storage
        },
        destroy: () => storage.close(),
      }
    },
  }

  describeCollection('PostgreSQL', medium)
  describeCommit('PostgreSQL', medium)
  describeFence('PostgreSQL', medium)
  describeLog('PostgreSQL', medium)
  describeSeries('PostgreSQL', medium)
})
