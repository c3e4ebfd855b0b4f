/** SQLite under the suites that every medium runs. */
import { describeCollection } from '../../contracts/storage/collection-suite.ts'
import { describeCommit } from '../../contracts/storage/commit-suite.ts'
import { describeFence } from '../../contracts/storage/fence-suite.ts'
import { describePartitions } from '../../contracts/storage/partition-suite.ts'
import { describeLog } from '../../contracts/storage/log-suite.ts'
import { describeSeries } from '../../contracts/storage/series-suite.ts'
import { sqliteMedium } from './sqlite-medium.ts'

describeCollection('SQLite', sqliteMedium())
describeCommit('SQLite', sqliteMedium())
describeFence('SQLite', sqliteMedium())
describePartitions('SQLite', sqliteMedium())
describeLog('SQLite', sqliteMedium())
describeSeries('SQLite', sqliteMedium())
describeSeries('SQLite that folds after every batch', sqliteMedium({ foldAt: 1, waiting: 0 }))
describeSeries('SQLite that never folds while it is busy', sqliteMedium({ foldAt: 1e9 }))
describeSeries('SQLite with the smallest chunks', sqliteMedium({ foldAt: 1, chunk: 2 }))
describeSeries('SQLite with chunks of which some samples stay rows', sqliteMedium({ foldAt: 1, chunk: 16, waiting: 8 }))
