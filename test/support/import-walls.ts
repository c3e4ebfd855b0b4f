/**
 * Defines what each room of the source may import. Imports between rooms use doors, the names that begin with `#` in
 * package.json; relative imports stay within the room. In a pattern, `*` matches one name and `**` anything.
 */
import { posix } from 'node:path'
import { readText } from './repository.ts'
import type { Scan } from './scan-source.ts'

export interface Wall {
  from: string
  /** doors of other rooms that may be imported */
  doors: readonly string[]
  packages: readonly string[]
  /** uses no clock, timer, randomness or process directly; callers pass these in */
  pure: boolean
  /** what relative imports may reach; default: the room */
  within?: readonly string[]
}

const ANYTHING = ['**']
const OF_SERVICES = [
  '#kernel',
  '#storage',
  '#jobs',
  '#log',
  '#platform',
  '#platform/sandbox',
  '#services/shared',
  '#services/*/client',
  '#services/*/contract',
]
const CORE_PACKAGES = [
  'rxjs',
  'cron-parser',
  'rrule',
  'luxon',
  'json-logic-js',
  'immer',
  'typebox',
  // an expression parser
  'acorn',
  // a separate interpreter for scripts, so that they never run in ours
  'quickjs-emscripten-core',
  '@jitl/quickjs-singlefile-browser-release-sync',
]

/** The first row whose `from` matches a file applies. */
export const WALLS: readonly Wall[] = [
  { from: 'src/kernel/**', doors: [], packages: [], pure: true },
  { from: 'src/core/**', doors: ['#kernel'], packages: CORE_PACKAGES, pure: true },
  { from: 'src/formats/**', doors: ['#kernel'], packages: [], pure: true },
  // The edge of the library, where the machine's clock and randomness enter
  {
    from: 'src/index.ts',
    doors: ['#core', '#kernel', '#platform/generate', '#platform/live-scheduler'],
    packages: ['rxjs'],
    pure: false,
  },
  { from: 'src/plug.ts', doors: ['#core', '#core/sandbox', '#kernel'], packages: [], pure: true },
  // Clients that connect to a host from elsewhere: no Node modules and no packages, so that they run in browsers too
  {
    from: 'src/client.ts',
    doors: ['#services/*/client', '#services/*/contract', '#kernel'],
    packages: [],
    pure: false,
  },
  // The window folder is not a plug: statistics plugs and model features share it
  {
    from: 'plugins/*/**',
    doors: ['#plug'],
    packages: [],
    pure: true,
    within: ['plugins/window/**', 'plugins/predict/features.ts', 'plugins/update-alarm/one-alarm.ts', 'plugins/<1>/**'],
  },
  { from: 'plugins/**', doors: ['#plug'], packages: [], pure: true },
  // Writes a failing case to disk on request, and loads Node's modules only then
  {
    from: 'src/testing/write-case.ts',
    doors: ['#core', '#core/spi', '#kernel'],
    packages: ['node:fs/promises', 'node:path'],
    pure: true,
  },
  // Series and queries of a world are those of a host, over an in-memory store
  {
    from: 'src/testing/world/memory-series.ts',
    doors: [
      '#core',
      '#core/spi',
      '#kernel',
      '#storage',
      '#storage/memory',
      '#services/broker/series',
      '#services/queries/service',
      '#host/wiring/queries',
    ],
    packages: [],
    pure: true,
  },
  {
    from: 'src/testing/**',
    doors: ['#library', '#plug', '#core', '#core/spi', '#kernel', '#platform/generate'],
    packages: ['fast-check', 'rxjs'],
    pure: true,
  },
  // Rules in TypeScript; of core and plugs only types, so that making a rule loads neither
  { from: 'src/rules/**', doors: ['#core', '#kernel', '#plugins'], packages: [], pure: true },
  // Measures the engine in separate processes, with the plugs that the command line would load
  {
    from: 'src/bench/**',
    doors: ['#core', '#core/spi', '#kernel', '#platform/generate', '#host/load-plugs'],
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
    from: 'src/services/shared/series/**',
    doors: ['#kernel', '#storage'],
    packages: ['luxon'],
    pure: true,
    within: ['src/services/shared/series/**'],
  },
  {
    from: 'src/services/shared/**',
    doors: ['#kernel', '#storage', '#platform'],
    packages: ['fastify', 'node:buffer', 'node:crypto', 'node:stream', 'typebox'],
    pure: false,
  },
  {
    from: 'src/services/rules/**',
    doors: [...OF_SERVICES, '#core', '#core/sentences', '#core/spi'],
    packages: ANYTHING,
    pure: false,
  },
  { from: 'src/services/calendars/**', doors: [...OF_SERVICES, '#core/spi'], packages: ANYTHING, pure: false },
  { from: 'src/services/maintenance/**', doors: [...OF_SERVICES, '#core/spi'], packages: ANYTHING, pure: false },
  { from: 'src/services/notification/**', doors: [...OF_SERVICES, '#core/spi'], packages: ANYTHING, pure: false },
  // Runs inside the processes of functions, each with only the few files that it needs, and without doors
  {
    from: 'src/services/functions/runtimes/**',
    doors: [],
    packages: ['node:buffer', 'node:fs', 'node:module', 'node:stream', 'node:stream/promises', 'node:url'],
    pure: false,
    within: [
      'src/services/functions/runtimes/**',
      'src/services/functions/function-type.ts',
      'src/core/plug/**',
      'src/client.ts',
      'src/kernel/**',
    ],
  },
  { from: 'src/services/converter/**', doors: [...OF_SERVICES, '#formats/*'], packages: ANYTHING, pure: false },
  { from: 'src/services/objects/**', doors: [...OF_SERVICES, '#formats/*'], packages: ANYTHING, pure: false },
  { from: 'src/services/*/**', doors: OF_SERVICES, packages: ANYTHING, pure: false },
  // Background jobs of services; the machine's time and randomness are passed in
  { from: 'src/jobs/**', doors: ['#kernel', '#storage'], packages: [], pure: true },
  // The log that all external input goes through
  { from: 'src/log/**', doors: ['#kernel', '#storage', '#platform'], packages: [], pure: true },
  // Assigns work to several hosts; time and randomness are passed in
  { from: 'src/cluster/**', doors: ['#kernel', '#storage'], packages: [], pure: true },
  // Processes for untrusted programs
  {
    from: 'src/platform/sandbox/**',
    doors: ['#kernel'],
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
    within: ['src/platform/sandbox/**'],
  },
  // Code generation, live time, seals, thread priorities: uses the machine's time and randomness
  {
    from: 'src/platform/**',
    doors: ['#kernel', '#core/spi'],
    packages: ['rxjs', 'node:async_hooks', 'node:crypto', 'node:os', 'node:timers'],
    pure: false,
  },
  {
    from: 'src/storage/contract.ts',
    doors: ['#kernel'],
    packages: [],
    pure: true,
    within: ['src/storage/series.ts', 'src/storage/blobs.ts'],
  },
  { from: 'src/storage/**', doors: ['#kernel', '#platform'], packages: ANYTHING, pure: false },
  // Tools of assistants, which act only through the client
  {
    from: 'src/mcp/prove.ts',
    doors: ['#core', '#core/spi', '#kernel', '#plugins', '#testing'],
    packages: ['fast-check'],
    pure: true,
  },
  {
    from: 'src/mcp/**',
    doors: ['#client', '#kernel', '#platform', '#services/*/contract'],
    packages: ['@modelcontextprotocol/sdk', 'node:stream', 'typebox'],
    pure: false,
  },
  // Pages in a browser, which reach a host only over its API
  {
    from: 'src/console/**',
    doors: ['#client', '#services/*/contract'],
    packages: ['preact', '@preact/signals', '@dagrejs/dagre', 'uplot', '@codemirror', '@lezer/highlight'],
    pure: false,
  },
  // The engine on Kafka: a worker over a port, whose time and randomness are passed in, and its implementation
  {
    from: 'src/kafka/client/**',
    doors: ['#kernel', '#services/connectors/kafka'],
    packages: ['@platformatic/kafka', 'node:buffer'],
    pure: false,
    within: ['src/kafka/**'],
  },
  {
    from: 'src/kafka/**',
    doors: ['#core', '#core/spi', '#kernel', '#services/rules/deterministic'],
    packages: ['node:crypto', 'node:http'],
    pure: false,
  },
  { from: 'src/host/**', doors: ANYTHING, packages: ANYTHING, pure: false },
  { from: 'src/cli/**', doors: ANYTHING, packages: ANYTHING, pure: false },
]

/** Files behind the doors, by name as in package.json: `#core`, `#services/*`. */
export const DOORS: ReadonlyMap<string, string> = new Map(
  Object.entries((JSON.parse(readText('package.json')) as { imports: Record<string, string> }).imports),
)

/** Returns the row for a file, and the text that the first `*` of its pattern matched. */
export function wallOf(path: string): { wall: Wall; own: string } | undefined {
  for (const wall of WALLS) {
    const match = pattern(wall.from).exec(path)
    if (match) return { wall, own: match[1] ?? '' }
  }
  return undefined
}

/** Returns the folder of a file's room, or the file itself if it is a room of its own. */
export function roomOf(path: string): string {
  return /^(?:src\/services\/[^/]+|src\/[^/]+|plugins)/.exec(path)?.[0] ?? path
}

/** Returns which of our files a file imports, as paths from the root. */
export function localTargets(path: string, scan: Scan): readonly string[] {
  return scan.imports.flatMap(({ specifier }) => {
    if (specifier?.startsWith('.') === true) return [posix.join(posix.dirname(path), specifier)]
    return specifier?.startsWith('#') === true ? [behind(specifier)] : []
  })
}

/** Returns one line per import of a file that its row forbids. */
export function wallBreaks(path: string, scan: Scan): readonly string[] {
  const row = wallOf(path)
  if (row === undefined) return [`${path}: no row of the table covers it`]
  const { wall, own } = row
  const within = (wall.within ?? [`${roomOf(path)}/**`]).map((file) => pattern(file.replace('<1>', own)))
  const doors = wall.doors.map(pattern)
  return scan.imports.flatMap(({ specifier, line }) => {
    const place = `${path}:${line}`
    if (specifier === undefined) return wall.pure ? [`${place}: imports a computed name`] : []
    if (specifier.startsWith('#')) {
      if (!doors.some((door) => door.test(specifier))) return [`${place}: may not use the door ${specifier}`]
      return roomOf(behind(specifier)) === roomOf(path) ? [`${place}: ${specifier} is its own room`] : []
    }
    if (!specifier.startsWith('.')) {
      return allowsPackage(wall, specifier) ? [] : [`${place}: may not import the package ${specifier}`]
    }
    const target = posix.join(posix.dirname(path), specifier)
    return within.some((file) => file.test(target)) ? [] : [`${place}: may not import ${target} past its door`]
  })
}

/** Returns the file behind a door as Node resolves it: by full name first, then by the longest pattern. */
function behind(door: string): string {
  const fits = [...DOORS].filter(([name]) => pattern(name).test(door)).sort(([a], [b]) => weight(b) - weight(a))
  const [name, file] = fits[0] ?? [door, `./no door ${door}`]
  return file.slice(2).replace('*', pattern(name).exec(door)?.[1] ?? '')
}

const weight = (name: string) => (name.includes('*') ? name.length : 1000)

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

/**
 * Finds cycles among files. Each is the list of paths around the cycle, with the first repeated at the end. Returns one
 * per group of connected cycles.
 */
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

/** Returns what a file's code uses although pure code must receive it from callers. */
export function impurities(scan: Scan): readonly string[] {
  return IMPURE.flatMap(([name, use]) => {
    // The file may define its own function of that name
    if (name === 'fetch' && /\bfunction fetch\b/.test(scan.code)) return []
    const match = use.exec(scan.code)
    return match ? [`line ${scan.code.slice(0, match.index).split('\n').length}: ${name}`] : []
  })
}

/** Uses of the machine that only the machine's port may contain where clocks and randomness are injected. */
const OF_THE_MACHINE: readonly (readonly [string, RegExp])[] = [
  ...IMPURE.filter(([name]) => ['Date.now', 'new Date() without a time', 'Math.random', 'a timer'].includes(name)),
  ['queueMicrotask', /(?<![.\w$])queueMicrotask\b/],
  ['performance.now', /(?<![.\w$])(?:globalThis\.)?performance\.now\b/],
  ['process.hrtime', /\bprocess\.hrtime\b/],
  ['AbortSignal.timeout', /\bAbortSignal\.timeout\b/],
  ['random bytes', /\b(?:randomUUID|randomBytes|randomInt|randomFill\w*|getRandomValues)\b/],
]

/** Returns the clocks, timers, turns, randomness and ids of the machine that a file uses directly. */
export function machineUses(scan: Scan): readonly string[] {
  return OF_THE_MACHINE.flatMap(([name, use]) => {
    const match = use.exec(scan.code)
    return match ? [`line ${scan.code.slice(0, match.index).split('\n').length}: ${name}`] : []
  })
}
