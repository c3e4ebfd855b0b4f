/** How the tests run: which files share a process, how many run at once, in what order, and how many cases they try. */
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { configDefaults, defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/longest-first.ts'

// The gate reads the numbers of tests from a file; it names it in TEST_REPORT
const { TEST_REPORT: report, FC_SEED, FC_RUNS, FC_TIMES, EXECUTOR } = process.env

/** Without a word on it a run tests a change and not luck: the same cases each time. */
const seed = FC_SEED ?? (FC_RUNS === undefined && FC_TIMES === undefined ? '20261120' : undefined)

/** ms: it ends what hangs. Nothing that works comes near it, not on a machine with ten times as much to do as it can. */
const HANGS = 300_000 * Math.max(1, Number(FC_TIMES ?? 1))

/**
 * Files that leave nothing behind in their process share one with others, which saves to start it and to load what they
 * test. All others have one each: hosts and media, what looks at the whole process, and properties, which are long.
 */
const SHARED = ['kernel', 'plugins', 'core', 'services', 'adapters', 'effects', 'jobs', 'web', 'testing'].map(
  (folder) => `test/${folder}/**/*.test.ts`,
)

/** With EXECUTOR=plain columnar execution is taken out of the engine: all but its own tests have to pass. */
const isPlain = EXECUTOR === 'plain'
const OF_COLUMNAR = ['test/core/columnar/**', 'test/properties/{columnar,vectorized}.test.ts']

export default defineConfig({
  ...(isPlain && {
    resolve: {
      alias: [
        { find: './new-executor.ts', replacement: join(import.meta.dirname, 'test/support/plain-executor-only.ts') },
      ],
    },
  }),
  test: {
    setupFiles: ['test/support/property-cases.ts'],
    testTimeout: HANGS,
    hookTimeout: HANGS,
    // less than the test's own, so that it says what did not come
    expect: { poll: { timeout: HANGS * 0.8, interval: 10 } },
    // on two cores, too: nobody else has work while the tests run
    maxWorkers: Math.max(2, availableParallelism()),
    sequence: { sequencer: LongestFirst },
    env: {
      ...(seed !== undefined && { FC_SEED: seed }),
      // hundreds of processes load the same files
      NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules', '.cache', 'node-compile'),
    },
    reporters: report === undefined ? ['default'] : ['default', ['json', { outputFile: report }]],
    coverage: { provider: 'v8', include: ['src/**/*.ts', 'plugins/**/*.ts'], reporter: ['text-summary', 'html'] },
    projects: [
      {
        extends: true,
        test: {
          name: 'system',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...SHARED, ...(isPlain ? OF_COLUMNAR : [])],
        },
      },
      {
        extends: true,
        test: {
          name: 'shared',
          include: SHARED,
          exclude: [...configDefaults.exclude, ...(isPlain ? OF_COLUMNAR : [])],
          isolate: false,
        },
      },
    ],
  },
})
