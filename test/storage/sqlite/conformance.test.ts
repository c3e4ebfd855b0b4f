/** Runs the suites that every medium passes on SQLite. */
import { describeCollection } from '../../contracts/storage/collection-suite.ts'
import { describeCommit } from '../../contracts/storage/commit-suite.ts'
import { describeLog } from '../../contracts/storage/log-suite.ts'
import { describeSeries } from '../../contracts/storage/series-suite.ts'
import { some } from '../../support/arbitraries/runs.ts'
import { sqliteMedium } from './sqlite-medium.ts'

describeCollection('SQLite', sqliteMedium())
describeCommit('SQLite', sqliteMedium())
describeLog('SQLite', sqliteMedium())
describeSeries('SQLite', sqliteMedium())
const FOLDING: readonly (readonly [string, Parameters<typeof sqliteMedium>[0]])[] = [
  ['that folds after every batch', { foldAt: 1, waiting: 0 }],
  ['that never folds while it is busy', { foldAt: 1e9 }],
  ['with the smallest chunks', { foldAt: 1, chunk: 2 }],
  ['with chunks of which some samples stay in small ones', { foldAt: 1, chunk: 16, waiting: 8 }],
]
for (const [title, options] of some(FOLDING)) describeSeries(`SQLite ${title}`, sqliteMedium(options))
