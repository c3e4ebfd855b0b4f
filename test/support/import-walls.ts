/**
 * Who may import whom: the walls of the house as a table, and the functions that hold source against it.
 * A target is a path from the top; `*` stands for one folder name, `**` for anything. `<1>` is what the first `*` of
 * the row's own pattern stood for. Packages are named as imported; `node:*` allows Node's own modules.
 */
import { posix } from 'node:path'
import type { Scan } from './scan-source.ts'

export interface Wall {
  from: string
  files: readonly string[]
  packages: readonly string[]
  /** no clock, timer, randomness or process: they come in from outside */
  pure: boolean
}

const ANYTHING = ['**']
const CORE_PACKAGES = [
  'rxjs',
  'cron-parser',
  'rrule',
  'luxon',
  'json-logic-js',
  'immer',
  'typebox',
  // a parser for expressions
  'acorn',
  // an interpreter of its own for scripts, so that they never run in ours
  'quickjs-emscripten-core',
  '@jitl/quickjs-singlefile-browser-release-sync',
]

/** The first row whose `from` fits a file is the one that counts. */
export const WALLS: readonly Wall[] = [
  { from: 'src/kernel/**', files: ['src/kernel/**'], packages: [], pure: true },
  { from: 'src/core/**', files: ['src/core/**', 'src/kernel/**'], packages: CORE_PACKAGES, pure: true },
  // Templates print what Apache prints: a leaf, for the services that convert
  { from: 'src/velocity/**', files: ['src/velocity/**', 'src/kernel/**'], packages: [], pure: true },
  // Files of messages, for whoever plays or imports them
  {
    from: 'src/recording/**',
    files: ['src/recording/**', 'src/core/task/json-numbers.ts', 'src/kernel/**'],
    packages: [],
    pure: true,
  },
  // The edge of the library: the machine's clock and chance come in here
  {
    from: 'src/index.ts',
    files: ['src/core/**', 'src/kernel/**', 'src/generate.ts', 'src/live-scheduler.ts'],
    packages: ['rxjs'],
    pure: false,
  },
  // What makes code of the engine's texts, for it and for the host
  { from: 'src/generate.ts', files: ['src/core/**'], packages: [], pure: false },
  { from: 'src/live-scheduler.ts', files: [], packages: ['rxjs'], pure: false },
  // What speaks to a host from elsewhere: nothing of Node's and no package, so that it runs in a page too
  {
    from: 'src/client.ts',
    files: ['src/services/*/client.ts', 'src/services/*/contract.ts', 'src/web/client/**', 'src/kernel/**'],
    packages: [],
    pure: false,
  },
  { from: 'src/plug.ts', files: ['src/core/**', 'src/kernel/**'], packages: [], pure: true },
  // Writes a failing case to a disk, when asked to; loads Node's modules only then
  {
    from: 'src/testing/write-case.ts',
    files: ['src/testing/**', 'src/core/**', 'src/kernel/**'],
    packages: ['node:fs/promises', 'node:path'],
    pure: true,
  },
  // Series and queries of a world are those of a host, over a store in memory
  {
    from: 'src/testing/world/memory-series.ts',
    files: [
      'src/adapters/queries.ts',
      'src/services/broker/series/create-series.ts',
      'src/services/queries/service.ts',
      'src/storage/contract.ts',
      'src/storage/memory/open-memory.ts',
      'src/core/**',
      'src/kernel/**',
    ],
    packages: [],
    pure: true,
  },
  {
    from: 'src/testing/**',
    files: ['src/testing/**', 'src/index.ts', 'src/generate.ts', 'src/plug.ts', 'src/core/**', 'src/kernel/**'],
    packages: ['fast-check', 'rxjs'],
    pure: true,
  },
  // Measures the engine in processes of its own, with the plugs that the command line would load
  {
    from: 'src/bench/**',
    files: ['src/bench/**', 'src/core/**', 'src/kernel/**', 'src/generate.ts', 'src/host/cli/load-plugs.ts'],
    packages: [
      'rxjs',
      'acorn',
      'node:child_process',
      'node:fs',
      'node:os',
      'node:path',
      'node:perf_hooks',
      'node:timers',
      'node:url',
    ],
    pure: false,
  },
  {
    from: 'src/services/rules/**',
    files: [
      'src/services/rules/**',
      'src/services/*/contract.ts',
      'src/partitions/**',
      'src/storage/contract.ts',
      'src/storage/walk.ts',
      'src/effects/**',
      'src/jobs/**',
      'src/machine/**',
      'src/web/**',
      'src/core/**',
      'src/kernel/**',
    ],
    packages: ANYTHING,
    pure: false,
  },
  // What a function of a tenant is given in its process is the library's own
  {
    from: 'src/services/functions/runtimes/**',
    files: [
      'src/services/functions/runtimes/**',
      'src/services/functions/function-type.ts',
      'src/core/plug/**',
      'src/client.ts',
      'src/kernel/**',
    ],
    packages: ['node:buffer', 'node:fs', 'node:module', 'node:stream', 'node:stream/promises', 'node:url'],
    pure: false,
  },
  {
    from: 'src/services/functions/**',
    files: [
      'src/services/functions/**',
      'src/services/*/contract.ts',
      'src/storage/contract.ts',
      'src/storage/walk.ts',
      'src/sandbox-process/**',
      'src/jobs/**',
      'src/machine/**',
      'src/web/**',
      'src/kernel/**',
    ],
    packages: ANYTHING,
    pure: false,
  },
  {
    from: 'src/services/models/**',
    files: [
      'src/services/models/**',
      'src/services/*/contract.ts',
      'src/storage/contract.ts',
      'src/sandbox-process/**',
      'src/machine/**',
      'src/web/**',
      'src/kernel/**',
    ],
    packages: ANYTHING,
    pure: false,
  },
  {
    from: 'src/services/converter/**',
    files: [
      'src/services/converter/**',
      'src/services/*/contract.ts',
      'src/storage/contract.ts',
      'src/velocity/**',
      'src/web/**',
      'src/kernel/**',
    ],
    packages: ANYTHING,
    pure: false,
  },
  {
    from: 'src/services/objects/**',
    files: [
      'src/services/objects/**',
      'src/services/*/contract.ts',
      'src/storage/contract.ts',
      'src/storage/walk.ts',
      'src/recording/**',
      'src/series/**',
      'src/jobs/**',
      'src/effects/**',
      'src/machine/**',
      'src/web/**',
      'src/kernel/**',
    ],
    packages: ANYTHING,
    pure: false,
  },
  {
    from: 'src/services/*/**',
    files: [
      'src/services/<1>/**',
      'src/services/*/contract.ts',
      'src/partitions/**',
      'src/storage/contract.ts',
      'src/storage/walk.ts',
      'src/series/**',
      'src/effects/**',
      'src/jobs/**',
      'src/machine/**',
      'src/web/**',
      'src/kernel/**',
    ],
    packages: ANYTHING,
    pure: false,
  },
  // What the services that read series share
  {
    from: 'src/series/**',
    files: ['src/series/**', 'src/storage/contract.ts', 'src/kernel/**'],
    packages: ['luxon'],
    pure: true,
  },
  // What services that rules act on share
  {
    from: 'src/effects/**',
    files: ['src/storage/contract.ts', 'src/kernel/**'],
    packages: ['node:crypto'],
    pure: true,
  },
  // What services leave to be done later; the machine's time and chance come in from outside
  {
    from: 'src/jobs/**',
    files: ['src/jobs/**', 'src/storage/contract.ts', 'src/storage/walk.ts', 'src/kernel/**'],
    packages: [],
    pure: true,
  },
  // The parts of a tenant that several hosts may have
  {
    from: 'src/partitions/**',
    files: ['src/partitions/**', 'src/storage/contract.ts', 'src/storage/wrapped-collection.ts', 'src/kernel/**'],
    packages: [],
    pure: true,
  },
  // Which of several hosts has what; time and chance come in from outside
  {
    from: 'src/cluster/**',
    files: ['src/cluster/**', 'src/storage/contract.ts', 'src/kernel/**'],
    packages: [],
    pure: true,
  },
  // The machine's time and chance, for those that take them from outside
  {
    from: 'src/machine/**',
    files: ['src/machine/**', 'src/kernel/**'],
    packages: ['node:crypto', 'node:timers'],
    pure: false,
  },
  // Processes for programs of others: a leaf that knows no service
  {
    from: 'src/sandbox-process/**',
    files: ['src/sandbox-process/**', 'src/kernel/**'],
    packages: [
      'node:child_process',
      'node:crypto',
      'node:fs',
      'node:http',
      'node:https',
      'node:net',
      'node:path',
      'node:stream',
      'node:url',
      'node:util',
      'node:v8',
    ],
    pure: false,
  },
  // What routes and clients of all services share
  {
    from: 'src/web/**',
    files: ['src/web/**', 'src/machine/**', 'src/kernel/**'],
    packages: ['fastify', 'node:buffer', 'node:stream', 'typebox'],
    pure: false,
  },
  {
    from: 'src/storage/contract.ts',
    files: ['src/storage/series.ts', 'src/storage/blobs.ts', 'src/kernel/**'],
    packages: [],
    pure: true,
  },
  {
    from: 'src/storage/**',
    files: ['src/storage/contract.ts', 'src/storage/**', 'src/machine/**', 'src/kernel/**'],
    packages: ANYTHING,
    pure: false,
  },
  {
    from: 'src/adapters/**',
    files: ['src/core/ports.ts', 'src/services/*/contract.ts', 'src/kernel/**'],
    packages: [],
    pure: false,
  },
  { from: 'src/host/**', files: ANYTHING, packages: ANYTHING, pure: false },
  { from: 'plugins/index.ts', files: ['src/plug.ts', 'plugins/*/plug.ts'], packages: [], pure: true },
  // The window is no plug: the statistics of several are made with it; nor are the features of models
  {
    from: 'plugins/*/**',
    files: ['src/plug.ts', 'plugins/window/**', 'plugins/predict/features.ts', 'plugins/<1>/**'],
    packages: [],
    pure: true,
  },
]

/** The row for a file, and what the first `*` of its pattern stood for. */
export function wallOf(path: string): { wall: Wall; own: string } | undefined {
  for (const wall of WALLS) {
    const match = pattern(wall.from).exec(path)
    if (match) return { wall, own: match[1] ?? '' }
  }
  return undefined
}

/** What a file imports of ours, as paths from the top. */
export function localTargets(path: string, scan: Scan): readonly string[] {
  return scan.imports.flatMap(({ specifier }) =>
    specifier?.startsWith('.') === true ? [posix.join(posix.dirname(path), specifier)] : [],
  )
}

/** One line for each import of a file that its row does not allow. */
export function wallBreaks(path: string, scan: Scan): readonly string[] {
  const row = wallOf(path)
  if (row === undefined) return [`${path}: no row of the table covers it`]
  const { wall, own } = row
  const allowed = wall.files.map((file) => pattern(file.replace('<1>', own)))
  return scan.imports.flatMap(({ specifier, line }) => {
    const place = `${path}:${line}`
    if (specifier === undefined) return wall.pure ? [`${place}: imports a computed name`] : []
    if (!specifier.startsWith('.')) {
      return allowsPackage(wall, specifier) ? [] : [`${place}: may not import the package ${specifier}`]
    }
    const target = posix.join(posix.dirname(path), specifier)
    return allowed.some((file) => file.test(target)) ? [] : [`${place}: may not import ${target}`]
  })
}

function allowsPackage(wall: Wall, specifier: string): boolean {
  if (wall.packages.includes('**')) return true
  return wall.packages.some((name) => specifier === name || specifier.startsWith(`${name}/`))
}

function pattern(glob: string): RegExp {
  const parts = glob.split(/(\*\*|\*)/).map((part) => {
    if (part === '**') return '.+'
    if (part === '*') return '([^/]+)'
    return part.replace(/[.+?^${}()|[\]\\]/g, '\\$&')
  })
  return new RegExp(`^${parts.join('')}$`)
}

/** Cycles among files: each as the paths around it, the first one again at the end. One per knot of files is enough. */
export function findCycles(graph: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const cycles: string[][] = []
  const done = new Set<string>()
  const trail: string[] = []
  const visit = (file: string) => {
    if (done.has(file)) return
    const seenAt = trail.indexOf(file)
    if (seenAt >= 0) {
      cycles.push([...trail.slice(seenAt), file])
      return
    }
    trail.push(file)
    for (const next of graph.get(file) ?? []) visit(next)
    trail.pop()
    done.add(file)
  }
  for (const file of graph.keys()) visit(file)
  return cycles
}

const IMPURE: readonly (readonly [string, RegExp])[] = [
  ['Date.now', /(?<![\w$])Date\.now\b/],
  ['new Date() without a time', /\bnew Date\b(?!\s*\(\s*[^\s)])/],
  ['Date() as a function', /(?<!new\s+|[\w$.])Date\(/],
  ['DateTime.now() and its like', /\bDateTime\.(?:now\(|(?:local|utc)\(\s*\))/],
  ['Math.random', /\bMath\.random\b/],
  ['a timer', /(?<![.\w$])(?:globalThis\.)?(?:setTimeout|setInterval|setImmediate)\b/],
  ['performance', /(?<![.\w$])(?:globalThis\.)?performance\./],
  ['process', /(?<![.\w$])(?:globalThis\.)?process\./],
  ['crypto', /(?<![.\w$])(?:globalThis\.)?crypto\.|\brandomUUID\b/],
  ['fetch', /(?<![.\w$])(?:globalThis\.)?fetch\(/],
  ['eval or Function', /(?<![.\w$])(?:eval\(|new Function\b)/],
  ['module-level let or var', /^(?:export )?(?:let|var) /m],
]

/** What a file's code uses that pure code must be given from outside. */
export function impurities(scan: Scan): readonly string[] {
  return IMPURE.flatMap(([name, use]) => {
    // A function of the file's own may carry the name
    if (name === 'fetch' && /\bfunction fetch\b/.test(scan.code)) return []
    const match = use.exec(scan.code)
    return match ? [`line ${scan.code.slice(0, match.index).split('\n').length}: ${name}`] : []
  })
}

/** What only the machine's own port may ask of the machine where clocks and chance are injected. */
const OF_THE_MACHINE: readonly (readonly [string, RegExp])[] = [
  ...IMPURE.filter(([name]) => ['Date.now', 'new Date() without a time', 'Math.random', 'a timer'].includes(name)),
  ['queueMicrotask', /(?<![.\w$])queueMicrotask\b/],
  ['performance.now', /(?<![.\w$])(?:globalThis\.)?performance\.now\b/],
  ['process.hrtime', /\bprocess\.hrtime\b/],
  ['AbortSignal.timeout', /\bAbortSignal\.timeout\b/],
  ['random bytes', /\b(?:randomUUID|randomBytes|randomInt|randomFill\w*|getRandomValues)\b/],
]

/** What a file takes of the machine's clocks, timers, turns, chance and ids by itself. */
export function machineUses(scan: Scan): readonly string[] {
  return OF_THE_MACHINE.flatMap(([name, use]) => {
    const match = use.exec(scan.code)
    return match ? [`line ${scan.code.slice(0, match.index).split('\n').length}: ${name}`] : []
  })
}
