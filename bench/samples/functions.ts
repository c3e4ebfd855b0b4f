/** Sample of plugs of a tenant in separate processes, called as by the host, by the clock. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { machineTimers } from '../../src/platform/timers.ts'
import { inspectMachine } from '../../src/platform/sandbox/inspect-machine.ts'
import { DEFAULT_LIMITS } from '../../src/platform/sandbox/limits.ts'
import { ProcessPool } from '../../src/platform/sandbox/process-pool.ts'
import type { Program } from '../../src/platform/sandbox/program.ts'
import { drive, lanes, sampleOf, type Calls, type CallsSample } from './calls.ts'
import type { PlugCallParams } from '../../src/services/functions/runtimes/plug-call.ts'
import { RUNTIMES } from '../../src/services/functions/runtimes/catalog.ts'
import { withFolder } from './host/folder.ts'

export type FunctionsSubject = 'calls-node' | 'calls-python' | 'half-node' | 'cold-node' | 'cold-python' | 'idle'

/** of calls, or of starts */
export interface FunctionsSample extends CallsSample {
  readonly processes: number
  /** growth of this process in bytes */
  readonly memory: number
}

const IN_FLIGHT = 32
const MEASURE_MS = 4_000
const HALF = 5_000
const STARTS = 20
const IDLE = 200

const CODE = {
  node: {
    file: 'index.js',
    text: `import { definePlug } from 'reflexarc'
export default definePlug({ name: 'warm', version: '1.0.0', kind: 'sensor', states: ['Warm', 'Cold'],
  input: { value: { type: 'double' } },
  execute: ({ properties: { value } }) => ({ state: value > 25 ? 'Warm' : 'Cold', rawData: { value } }) })`,
  },
  python: {
    file: 'main.py',
    text: `def execute(properties, console, logger, client):
    return ("Warm" if properties["value"] > 25 else "Cold", {"value": properties["value"]})
`,
  },
} as const

function paramsOf(n: number): PlugCallParams {
  return {
    properties: { value: n % 50 },
    streamData: { temperature: n % 50, humidity: 40 },
    news: ['temperature', 'humidity'],
    newNodes: [],
    times: { '': 1_000 + n },
    rawData: {},
    actuatorData: {},
    task: { id: 't', name: 'watch', resource: 'boiler-1' } as unknown as PlugCallParams['task'],
    node: { label: 'w' } as unknown as PlugCallParams['node'],
    globalSettings: {},
    now: 1_000 + n,
    id: `t/w/${n}`,
    hops: 0,
    random: 1 + n,
  }
}

export function functionsSample({ subject }: { subject: FunctionsSubject }): Promise<FunctionsSample> {
  return withFolder((folder) => sampleIn(folder, subject))
}

async function sampleIn(folder: string, subject: FunctionsSubject): Promise<FunctionsSample> {
  const emptyFolder = join(folder, 'empty')
  mkdirSync(emptyFolder)
  const machine = await inspectMachine({ confinement: 'confined', emptyFolder, environment: process.env })
  const { later } = machineTimers
  const pool = new ProcessPool({
    machine,
    emptyFolder,
    limits: DEFAULT_LIMITS,
    processes: 16,
    perProgram: 2,
    // idle processes are swept at half of it
    idleMs: subject === 'idle' ? 500 : 60_000,
    later,
    clock: () => performance.now(),
    answer: () => Promise.reject(new Error('nothing is asked')),
    log: () => undefined,
  })
  try {
    const language = subject.endsWith('python') ? 'python' : 'node'
    if (!machine.interpreters.has(language)) throw new Error(machine.lacks.join('; '))
    const program = (key: string): Program => programOf(language, folder, key)
    const before = process.memoryUsage().rss
    const calls = sampleOf(await measure(subject, pool, program))
    return { ...calls, processes: pool.running, memory: process.memoryUsage().rss - before }
  } finally {
    await pool.close()
  }
}

function programOf(language: 'node' | 'python', folder: string, key: string): Program {
  const { file, text } = CODE[language]
  const own = join(folder, 'program')
  mkdirSync(own, { recursive: true })
  writeFileSync(join(own, file), text)
  writeFileSync(join(own, 'package.json'), '{ "type": "module" }')
  const harness = RUNTIMES.get(language === 'node' ? 'plug-node24' : 'plug-python3')?.harness
  if (harness === undefined) throw new Error(`the runtime for ${language} is missing`)
  const { module, readable } = harness
  return {
    key,
    owner: `owner of ${key}`,
    language,
    module,
    readable: [...readable, own],
    argument: { module: join(own, file) },
  }
}

async function measure(
  subject: FunctionsSubject,
  pool: ProcessPool,
  program: (key: string) => Program,
): Promise<Calls> {
  if (subject === 'idle') return idle(pool, program)
  if (subject.startsWith('cold')) return each(STARTS, pool, program)
  const own = program('own')
  const run = (ms: number): Promise<Calls> => {
    const end = performance.now() + ms
    return drive(
      lanes(IN_FLIGHT),
      () => performance.now() < end,
      (_lane, n) => called(pool, own, n),
    )
  }
  await run(MEASURE_MS / 4)
  const calls = await run(MEASURE_MS)
  return subject.startsWith('half') ? half(pool, own) : calls
}

function each(count: number, pool: ProcessPool, program: (key: string) => Program): Promise<Calls> {
  return drive(
    lanes(1),
    (n) => n < count,
    (_lane, n) => called(pool, program(`own ${n}`), n),
  )
}

async function half(pool: ProcessPool, program: Program): Promise<Calls> {
  const times: number[] = []
  const open: Promise<void>[] = []
  const begin = performance.now()
  const timed = async (n: number): Promise<void> => {
    const before = performance.now()
    await called(pool, program, n)
    times.push(performance.now() - before)
  }
  while (performance.now() - begin < MEASURE_MS) {
    const due = Math.floor(((performance.now() - begin) / 1_000) * HALF)
    while (open.length < due) open.push(timed(open.length))
    await new Promise((resolve) => setImmediate(resolve))
  }
  await Promise.all(open)
  return { times, wallMs: performance.now() - begin }
}

async function idle(pool: ProcessPool, program: (key: string) => Program): Promise<Calls> {
  const calls = await each(IDLE, pool, program)
  const end = performance.now()
  while (pool.running > 0 && performance.now() - end < 10_000) await new Promise((resolve) => setTimeout(resolve, 50))
  return calls
}

async function called(pool: ProcessPool, program: Program, n: number): Promise<void> {
  const answer = (await pool.call(program, 'execute', paramsOf(n))) as { readonly state?: string }
  if (answer.state !== (n % 50 > 25 ? 'Warm' : 'Cold')) throw new Error(`it answered ${JSON.stringify(answer)}`)
}
