/**
 * eKuiper as a peer: its server in a separate process, with a source of the events and a counting sink. Up to a hundred
 * rules are rules with a stream per resource; more are rows of a lookup table joined with one rule, which is twice as
 * fast, since ten thousand rules take minutes to create. Edges and cool-downs are in the SQL of the rule (`lag`,
 * `last_hit_time`); `w4` has an alias per step.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EVENT_COUNT, START_MS, STEP_MS } from '../events.ts'
import type { ThroughputSample } from '../subject.ts'
import { rulesByResource } from '../subjects/by-hand.ts'
import { expectFirings, type ChainWorkload, type ThresholdWorkload, type Workload } from '../workload.ts'

const SOURCES = import.meta.dirname
const BUILT = join(SOURCES, '../../node_modules/.cache/bench-ekuiper')
const PROGRAM = join(BUILT, 'ekuiper')
/** folder of its defaults */
const SETTINGS = join(BUILT, 'settings')
const MOST_RULES = 100
/** ms of CPU time */
const WARM_UP_MS = 1_000

type Answer = ThroughputSample & { readonly taken: number }

/** Set-up before the first event. */
interface Rules {
  readonly statements: readonly string[]
  readonly rules: readonly object[]
  readonly readers: number
  readonly limits?: Readonly<Record<string, readonly object[]>>
}

export async function ekuiperSample(workload: Workload, measureMs: number): Promise<ThroughputSample> {
  buildEkuiper()
  const folder = mkdtempSync(join(tmpdir(), 'bench-ekuiper-'))
  try {
    const etc = readFileSync(SETTINGS, 'utf8')
    const folders = ['-etc', etc, '-data', folder, '-log', folder, '-plugins', folder]
    const { status, stdout, stderr } = spawnSync(PROGRAM, ['-loadFileType', 'absolute', ...folders], {
      input: JSON.stringify(orderOf(workload, measureMs)),
      encoding: 'utf8',
      env: { ...process.env, KUIPER__BASIC__LOGLEVEL: 'error', GOMAXPROCS: '1' },
    })
    if (status !== 0) throw new Error(`ekuiper: ${stderr.trim()}`)
    // earlier lines are log output of its server
    const { taken, ...sample } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Answer
    expectFirings(workload, 'ekuiper', { firings: sample.firings, taken })
    return sample
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function orderOf(workload: Workload, measureMs: number): object {
  const isChain = workload.kind === 'chain'
  const joined = !isChain && workload.limits.length > MOST_RULES
  const onEdges = !isChain && workload.fires === 'edge'
  const made = isChain ? chain(workload) : joined ? oneJoined(workload) : oneEach(workload)
  const meets = isChain ? (i: number) => workload.expected(i + 1) - workload.expected(i) : metBy(workload)
  const events = workload.events.map((row, i) => ({ feed: joined ? ALL : row.resource, meets: meets(i), row }))
  if (events.length !== EVENT_COUNT) throw new Error(`there are ${events.length} events`)
  const times = { warmUpMs: WARM_UP_MS, measureMs, startMs: START_MS, stepMs: STEP_MS }
  return { ...made, ...times, onEdges, coolDownMs: isChain ? 0 : workload.coolDownMs, events }
}

const ALL = 'all'
const FIELDS = '(resource STRING, temperature FLOAT, humidity FLOAT)'
const SINK = { actions: [{ count: { sendSingle: true } }], options: { disableBufferFullDiscard: true } }

function stream(name: string, feed: string): string {
  return `CREATE STREAM ${name} ${FIELDS} WITH (TYPE="bench", DATASOURCE="${feed}", FORMAT="json")`
}

/** A rule per pair of limits, and a stream per resource. */
function oneEach({ limits, fires, coolDownMs }: ThresholdWorkload): Rules {
  const streams = new Map([...new Set(limits.map(({ resource }) => resource))].map((one, i) => [one, `s${i}`]))
  const rules = limits.map((limit, i) => {
    const met = `temperature > ${float(limit.temperature)} AND humidity > ${float(limit.humidity)}`
    const onEdge = ` AND lag(${met}) = false AND event_time() - last_hit_time() >= ${coolDownMs}`
    const where = fires === 'edge' ? met + onEdge : met
    return { id: `r${i}`, sql: `SELECT temperature FROM ${streams.get(limit.resource)} WHERE ${where}`, ...SINK }
  })
  return { statements: [...streams].map(([feed, name]) => stream(name, feed)), rules, readers: rules.length }
}

/** One rule over a lookup table. The firings of one event reach the sink as a list. */
function oneJoined({ limits, fires }: ThresholdWorkload): Rules {
  if (fires === 'edge') throw new Error('ekuiper: one rule for all resources cannot track the edges of each')
  const table = 'CREATE TABLE limits () WITH (TYPE="limits", KIND="lookup", DATASOURCE="limits")'
  const sql =
    'SELECT limits.id FROM s INNER JOIN limits ON s.resource = limits.resource ' +
    'WHERE s.temperature > limits.temperature AND s.humidity > limits.humidity'
  return {
    statements: [stream('s', ALL), table],
    rules: [{ id: 'r', sql, ...SINK, actions: [{ count: { sendSingle: false } }] }],
    readers: 1,
    limits: Object.fromEntries(rulesByResource(limits, (limit, id) => ({ id, ...limit }))),
  }
}

function chain({ resource, steps, limit }: ChainWorkload): Rules {
  const aliases = steps.map(({ factor, offset }, i) => {
    const before = i === 0 ? 'temperature' : `v${i - 1}`
    return `${before} * ${float(factor)} ${offset < 0 ? '-' : '+'} ${float(Math.abs(offset))} AS v${i}`
  })
  const sql = `SELECT ${aliases.join(', ')} FROM s WHERE v${steps.length - 1} > ${float(limit)}`
  return { statements: [stream('s', resource)], rules: [{ id: 'r', sql, ...SINK }], readers: 1 }
}

/** Float literal: whole numbers would be converted for every event. */
function float(value: number): string {
  return Number.isInteger(value) ? value.toFixed(1) : String(value)
}

function metBy({ events, limits }: ThresholdWorkload): (i: number) => number {
  const ofResource = rulesByResource(limits, (limit) => limit)
  return (i) => {
    const event = events[i]
    const own = event === undefined ? [] : (ofResource.get(event.resource) ?? [])
    return own.filter(
      (one) => event !== undefined && event.temperature > one.temperature && event.humidity > one.humidity,
    ).length
  }
}

/** Builds once, and again when the source is newer: Go first fetches the modules, which takes minutes. */
export function buildEkuiper(): void {
  if (existsSync(PROGRAM) && ['main.go', 'go.mod'].every((name) => isOlder(join(SOURCES, name)))) return
  mkdirSync(BUILT, { recursive: true })
  process.stderr.write('bench: building eKuiper (go build), once\n')
  const options = { cwd: SOURCES, env: { ...process.env, CGO_ENABLED: '0' } }
  const build = spawnSync('go', ['build', '-tags', 'core', '-o', PROGRAM, '.'], { ...options, stdio: ['ignore', 2, 2] })
  if (build.status !== 0) throw new Error('go build failed')
  const list = ['list', '-m', '-f', '{{.Dir}}', 'github.com/lf-edge/ekuiper/v2']
  writeFileSync(SETTINGS, join(execFileSync('go', list, { ...options, encoding: 'utf8' }).trim(), 'etc'))
}

function isOlder(source: string): boolean {
  return statSync(source).mtimeMs < statSync(PROGRAM).mtimeMs
}
