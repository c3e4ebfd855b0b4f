/** One sample: plugs of a tenant in processes of their own, called as the host calls them, by the clock. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { machineTimers } from '../../src/platform/timers.ts'
import { inspectMachine } from '../../src/platform/sandbox/inspect-machine.ts'
import { DEFAULT_LIMITS } from '../../src/platform/sandbox/limits.ts'
import { ProcessPool } from '../../src/platform/sandbox/process-pool.ts'
import type { Program } from '../../src/platform/sandbox/program.ts'
import type { PlugCallParams } from '../../src/services/functions/runtimes/plug-call.ts'
import { RUNTIMES } from '../../src/services/functions/runtimes/catalog.ts'

export type FunctionsSubject = 'calls-node' | 'calls-python' | 'half-node' | 'cold-node' | 'cold-python' | 'idle'

export interface FunctionsSample {
  /** calls, or starts */
  readonly perSecond: number
  /** ms from the call to its answer */
  readonly p50: number
  readonly p99: number
  /** us of CPU of this process for each call */
  readonly cpu: number
  /** processes at the end */
  readonly processes: number
  /** bytes that this process has more than before */
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

/** As an engine with one sensor on a stream would send it. */
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

export async function functionsSample(subject: FunctionsSubject): Promise<FunctionsSample> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-functions-'))
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
    // what idles is looked for at half of it
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
    const measured = await measure(subject, pool, program)
    return { ...measured, processes: pool.running, memory: process.memoryUsage().rss - before }
  } finally {
    await pool.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

function programOf(language: 'node' | 'python', folder: string, key: string): Program {
  const { file, text } = CODE[language]
  const own = join(folder, 'program')
  mkdirSync(own, { recursive: true })
  writeFileSync(join(own, file), text)
  writeFileSync(join(own, 'package.json'), '{ "type": "module" }')
  const harness = RUNTIMES.get(language === 'node' ? 'plug-node24' : 'plug-python3')?.harness
  if (harness === undefined) throw new Error(`no runtime for ${language}`)
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

type Measured = Pick<FunctionsSample, 'perSecond' | 'p50' | 'p99' | 'cpu'>

function measure(subject: FunctionsSubject, pool: ProcessPool, program: (key: string) => Program): Promise<Measured> {
  if (subject === 'idle') return idle(pool, program)
  if (subject.startsWith('cold')) return cold(pool, program)
  return subject.startsWith('half') ? half(pool, program('own')) : calls(pool, program('own'))
}

/** As many as go, so many at a time. */
async function calls(pool: ProcessPool, program: Program): Promise<Measured> {
  const run = async (ms: number): Promise<Measured> => {
    const times: number[] = []
    const [begin, cpu] = [performance.now(), process.cpuUsage()]
    const worker = async (first: number): Promise<void> => {
      for (let n = first; performance.now() - begin < ms; n += IN_FLIGHT) times.push(await timed(pool, program, n))
    }
    await Promise.all(Array.from({ length: IN_FLIGHT }, (_, n) => worker(n)))
    return resultOf(times, performance.now() - begin, process.cpuUsage(cpu))
  }
  await run(MEASURE_MS / 4)
  return run(MEASURE_MS)
}

/** At a fixed rate, whether answers came or not. */
async function half(pool: ProcessPool, program: Program): Promise<Measured> {
  await calls(pool, program)
  const times: number[] = []
  const open: Promise<void>[] = []
  const [begin, cpu] = [performance.now(), process.cpuUsage()]
  let sent = 0
  while (performance.now() - begin < MEASURE_MS) {
    const due = Math.floor(((performance.now() - begin) / 1_000) * HALF)
    for (; sent < due; sent++) open.push(timed(pool, program, sent).then((ms) => void times.push(ms)))
    await new Promise((resolve) => setImmediate(resolve))
  }
  await Promise.all(open)
  return resultOf(times, performance.now() - begin, process.cpuUsage(cpu))
}

/** Each call finds no process. */
async function cold(pool: ProcessPool, program: (key: string) => Program): Promise<Measured> {
  const times: number[] = []
  const [begin, cpu] = [performance.now(), process.cpuUsage()]
  for (let n = 0; n < STARTS; n++) times.push(await timed(pool, program(`own ${n}`), n))
  return resultOf(times, performance.now() - begin, process.cpuUsage(cpu))
}

/** Each was called once, and then nobody called any. */
async function idle(pool: ProcessPool, program: (key: string) => Program): Promise<Measured> {
  const times: number[] = []
  const [begin, cpu] = [performance.now(), process.cpuUsage()]
  for (let n = 0; n < IDLE; n++) times.push(await timed(pool, program(`own ${n}`), n))
  const end = performance.now()
  while (pool.running > 0 && performance.now() - end < 10_000) await new Promise((resolve) => setTimeout(resolve, 50))
  return resultOf(times, end - begin, process.cpuUsage(cpu))
}

async function timed(pool: ProcessPool, program: Program, n: number): Promise<number> {
  const begin = performance.now()
  const answer = (await pool.call(program, 'execute', paramsOf(n))) as { readonly state?: string }
  if (answer.state !== (n % 50 > 25 ? 'Warm' : 'Cold')) throw new Error(`it answered ${JSON.stringify(answer)}`)
  return performance.now() - begin
}

function resultOf(times: readonly number[], wallMs: number, { user, system }: NodeJS.CpuUsage): Measured {
  const sorted = [...times].sort((a, b) => a - b)
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return {
    perSecond: (times.length * 1_000) / wallMs,
    p50: at(0.5),
    p99: at(0.99),
    cpu: (user + system) / times.length,
  }
}
