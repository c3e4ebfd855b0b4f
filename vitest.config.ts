/** How the tests run: which files share a process, how many run at once, in what order, and how many cases they try. */
import { globSync, readFileSync } from 'node:fs'
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
 * `npm run test:wide`: what needs a browser, another server, packages of a registry, a whole build of the package, or
 * time: hosts under faults, processes that are killed or measure, and calls that take as long as they may. `npm test`
 * leaves it out; named by its path, each file runs.
 */
export const WIDE = [
  'test/wide/**/*.test.ts',
  'test/package.test.ts',
  'test/bench/bench-rule.test.ts',
  'test/cli/{backup,bench,functions,keys,models-runtime,serve,serve-plugs}.test.ts',
  'test/faults/**/*.test.ts',
  'test/formats/velocity/apache/*.test.ts',
  'test/freeze/*.test.ts',
  'test/host/cluster/{cluster,every-route,takeover}.test.ts',
  'test/host/{functions,mqtt-sessions,notification,object-events,rollouts,rehearsals}-crash.test.ts',
  'test/host/{assistants,audit,ci-example,concurrent-writes,crash,functions-install,lived-rehearsals}.test.ts',
  'test/host/{links,openapi-client,webscripts,webscripts-wrong}.test.ts',
  'test/host/idempotency/every-write.test.ts',
  'test/jobs/postgres.test.ts',
  'test/services/alarms/two-hosts.test.ts',
  'test/services/broker/mqtt/mosquitto.test.ts',
  'test/services/rules/durable/postgres.test.ts',
  'test/services/rules/inputs/postgres.test.ts',
  'test/storage/postgres/**/*.test.ts',
  'test/storage/sqlite/damage.test.ts',
]

/** What `npm test` takes of the cases that properties, tables and kills ask for (`test/support/arbitraries/runs.ts`). */
const SHARE = 0.1

/** The files that ask so: `npm run test:wide` runs them with all cases. */
export const SHARED_CASES = globSync('test/**/*.test.ts', { cwd: import.meta.dirname }).filter((file) =>
  readFileSync(join(import.meta.dirname, file), 'utf8').includes("arbitraries/runs.ts'"),
)

/**
 * Files that have a process each: what compares the CPU time of works, and what reads the whole checkout. All others leave
 * nothing behind and share processes: to start one and to load what is tested costs more than most files.
 */
export const ALONE = [
  'test/*.test.ts',
  'test/core/language/expression/attacks.test.ts',
  'test/core/language/placeholders/value.test.ts',
  'test/core/rule/validate.test.ts',
  'test/core/rule/check/check-reach.test.ts',
  'test/core/language/script/sandbox.test.ts',
  'test/formats/recording/csv-records.test.ts',
]

/** With EXECUTOR=plain columnar execution is taken out of the engine: all but its own tests have to pass. */
const isPlain = EXECUTOR === 'plain'
const OF_COLUMNAR = [
  'test/core/columnar/**',
  'test/core/engine/stats.test.ts',
  'test/properties/{columnar,vectorized}.test.ts',
]
const EXCLUDED = [...configDefaults.exclude, ...(isPlain ? OF_COLUMNAR : [])]
/** Others than those of `npm run test:wide`. */
const SMALL = [...EXCLUDED, ...WIDE]

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
    // one more than cores: tests of processes, disks and timers wait for half of their time
    maxWorkers: Math.max(2, availableParallelism()) + 1,
    sequence: { sequencer: LongestFirst },
    env: {
      ...(seed !== undefined && { FC_SEED: seed }),
      FC_TIMES: FC_TIMES ?? String(SHARE),
      // hundreds of processes load the same files
      NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules', '.cache', 'node-compile'),
    },
    reporters: report === undefined ? ['default'] : ['default', ['json', { outputFile: report }]],
    coverage: { provider: 'v8', include: ['src/**/*.ts', 'plugins/**/*.ts'], reporter: ['text-summary', 'html'] },
    projects: [
      { extends: true, test: { name: 'alone', include: ALONE, exclude: SMALL } },
      {
        extends: true,
        test: { name: 'shared', include: ['test/**/*.test.ts'], exclude: [...SMALL, ...ALONE], isolate: false },
      },
      { extends: true, test: { name: 'wide', include: WIDE, exclude: EXCLUDED, env: { FC_TIMES: FC_TIMES ?? '1' } } },
    ],
  },
})
