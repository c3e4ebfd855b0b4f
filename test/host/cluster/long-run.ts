/**
 * `npm run test:cluster -- --minutes 30 [--seed 1]`: hosts of a cluster and a PostgreSQL with a synchronous standby, to
 * which everything happens again and again while messages stream in: hosts are killed, halted, cut off, told to stop and
 * started, with clocks that are wrong, and the database falls and fails over. In the end it is as if one host had been
 * there all the time: each task has seen each acknowledged message once, each cool-down has held, and each stream, which
 * its reader has followed from host to host, has each message once, in order, without a gap.
 */
import { scheduler } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Template } from '../../../src/index.ts'
import { OLDEST_MAJOR, postgresBinaries } from '../../support/start-postgres.ts'
import { ClusterProcesses, type MemberProcess } from './cluster-processes.ts'
import { post, seen, type Lane } from './lanes.ts'
import { LaneReader } from './lane-reader.ts'
import { PostgresPair } from './postgres-pair.ts'

const TENANTS = Array.from({ length: 8 }, (_, n) => `tenant-${n}`)
const HOSTS = 3
/** ms by which clocks of hosts are wrong at most: more is refused */
const MAX_SKEW = 700
/** ms within which everything goes on after a fault */
const PATIENCE = 60_000

const COUNTED: Template = {
  name: 'counted',
  sensors: [{ label: 'seen', name: 'invokeCount', resource: '$' }],
  actuators: [{ label: 'told', name: 'createAlarm', properties: { type: 'SEEN' } }],
  // once a day at most: a second alarm would be counted
  triggers: [
    { sourceLabel: 'seen', destinationLabel: 'told', statesTrigger: ['Incremented'], invocationPolicy: 86_400 },
  ],
  taskDefaults: { type: 'reactive' },
}

const say = (text: string): void => void process.stdout.write(`${new Date().toISOString()} ${text}\n`)

interface Member {
  readonly process: MemberProcess
  readonly way: Awaited<ReturnType<PostgresPair['way']>>
}

class LongRun {
  readonly #random: () => number
  readonly #pair: PostgresPair
  readonly #hosts: ClusterProcesses
  readonly #members: Member[] = []
  readonly #asked = new Set<MemberProcess>()
  readonly counts = new Map<string, number>()

  constructor(seed: number, pair: PostgresPair, hosts: ClusterProcesses) {
    this.#random = randomFrom(seed)
    this.#pair = pair
    this.#hosts = hosts
  }

  get asked(): ReadonlySet<MemberProcess> {
    return this.#asked
  }

  async join(): Promise<void> {
    const way = await this.#pair.way()
    const skew = Math.round((this.#random() * 2 - 1) * MAX_SKEW)
    const process = await this.#hosts.start({ store: way.url, skew })
    this.#members.push({ process, way })
    this.#asked.add(process)
  }

  /** Something, drawn, and what makes it good again. */
  async fault(): Promise<string> {
    const faults = [
      () => this.#lose('killed', (member) => member.process.kill()),
      () => this.#lose('told to stop', async (member) => void (await member.process.terminate())),
      () => this.#halt(),
      () => this.#cutOff(),
      () => this.#rollingRestart(),
      () => this.#pair.fall().then(() => 'the database fell, and came back'),
      () => this.#pair.failOver().then(() => 'the database failed over'),
    ]
    const what = (await faults[Math.floor(this.#random() * faults.length)]?.()) ?? ''
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1)
    return what
  }

  async #lose(what: string, end: (member: Member) => Promise<void>): Promise<string> {
    const member = this.#draw()
    this.#members.splice(this.#members.indexOf(member), 1)
    this.#asked.delete(member.process)
    await end(member)
    member.way.close()
    await this.join()
    return `a host was ${what}, and another started`
  }

  async #halt(): Promise<string> {
    const { process } = this.#draw()
    this.#asked.delete(process)
    process.halt()
    await scheduler.wait(this.#random() * 8_000)
    process.goOn()
    this.#asked.add(process)
    return 'a host stood still'
  }

  async #cutOff(): Promise<string> {
    const { way } = this.#draw()
    way.cut()
    await scheduler.wait(this.#random() * 6_000)
    way.mend()
    return 'a host was cut off from the database'
  }

  async #rollingRestart(): Promise<string> {
    for (const member of this.#members.slice()) {
      this.#asked.delete(member.process)
      await member.process.terminate()
      this.#members.splice(this.#members.indexOf(member), 1)
      member.way.close()
      await this.join()
    }
    return 'all hosts were started anew, one after the other'
  }

  #draw(): Member {
    const member = this.#members[Math.floor(this.#random() * this.#members.length)]
    if (member === undefined) throw new Error('no host is there')
    return member
  }
}

/** Numbers from 0 to 1, the same for a seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), 1 | state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0) / 4_294_967_296
  }
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { minutes: { type: 'string', default: '30' }, seed: { type: 'string' } } })
  const minutes = Number(values.minutes)
  const seed = Number(values.seed ?? Date.now() % 1_000_000)
  if (!(minutes > 0) || !Number.isInteger(seed)) {
    say('give the time as --minutes 30, and a whole number as --seed, if at all')
    return 2
  }
  const binaries = postgresBinaries()
  if (binaries === undefined) {
    say(`There is no PostgreSQL ${OLDEST_MAJOR} or later here: apt-get install -y --no-install-recommends postgresql`)
    return 1
  }
  say(`${minutes} minutes, seed ${seed}`)
  const pair = await PostgresPair.start(binaries)
  const hosts = new ClusterProcesses(pair.url)
  try {
    return await run(new LongRun(seed, pair, hosts), hosts, minutes * 60_000)
  } finally {
    await hosts.end()
    await pair.stop()
  }
}

async function run(long: LongRun, hosts: ClusterProcesses, ms: number): Promise<number> {
  await hosts.addKeys(TENANTS)
  for (let n = 0; n < HOSTS; n += 1) await long.join()
  const lanes = await Promise.all(TENANTS.map((tenant) => makeLane(hosts, long, tenant)))
  const over = new AbortController()
  const readers = lanes.map((lane) => new LaneReader(hosts, long.asked, lane, over.signal))
  const failures: Error[] = []
  const sending = lanes.map(async (lane) => {
    while (!over.signal.aborted) {
      await post(hosts, long.asked, lane)
      lane.sent += 1
    }
  })
  for (const one of sending) one.catch((error: Error) => void failures.push(error))
  const until = Date.now() + ms
  try {
    for (let n = 1; Date.now() < until && failures.length === 0; n += 1) {
      const what = await long.fault()
      const took = await goesOn(lanes)
      say(`${n}: ${what}; all go on after ${took} ms, ${lanes.reduce((sum, { sent }) => sum + sent, 0)} messages`)
    }
    const [failure] = failures
    if (failure !== undefined) throw failure
  } finally {
    over.abort()
  }
  await Promise.all(sending)
  return verify(hosts, long, lanes, readers)
}

/** ms until a message of each that was sent from here on was acknowledged. */
async function goesOn(lanes: readonly Lane[]): Promise<number> {
  const since = Date.now()
  const before = lanes.map(({ sent }) => sent)
  // the one that is under way may have been acknowledged before
  while (lanes.some(({ sent }, n) => sent < (before[n] ?? 0) + 2)) {
    if (Date.now() - since > PATIENCE) {
      const still = lanes.filter(({ sent }, n) => sent < (before[n] ?? 0) + 2).map(({ resource }) => resource)
      throw new Error(`nothing goes on for ${still.join(', ')}`)
    }
    await scheduler.wait(20)
  }
  return Date.now() - since
}

async function makeLane(hosts: ClusterProcesses, { asked }: LongRun, tenant: string): Promise<Lane> {
  const [first] = asked
  const { rules } = hosts.clientOf(first?.url ?? '', tenant)
  await rules.templates.create(COUNTED)
  const resource = `${tenant}-boiler`
  const { ID } = await rules.tasks.create({ template: 'counted', name: resource, resource })
  return { tenant, resource, task: ID, sent: 0 }
}

async function verify(
  hosts: ClusterProcesses,
  { asked, counts }: LongRun,
  lanes: readonly Lane[],
  readers: readonly LaneReader[],
): Promise<number> {
  const wrong: string[] = []
  for (const lane of lanes) {
    const count = await seen(hosts, asked, lane)
    if (count !== lane.sent) wrong.push(`${lane.resource}: ${lane.sent} were acknowledged, its task has seen ${count}`)
    const [first] = asked
    const { alarms } = await hosts.clientOf(first?.url ?? '', lane.tenant).alarms.list({ source: lane.resource })
    const told = alarms.map(({ type, count: times }) => `${type} ${times}`).join()
    if (told !== 'SEEN 1') wrong.push(`${lane.resource}: its cool-down did not hold, alarms are ${told}`)
  }
  for (const reader of readers) wrong.push(...(await reader.problems()))
  for (const [what, count] of counts) say(`${count} times ${what}`)
  for (const one of wrong) say(`WRONG: ${one}`)
  const all = lanes.reduce((sum, { sent }) => sum + sent, 0)
  say(wrong.length === 0 ? `${all} messages, all is as with one host` : `${wrong.length} things are wrong`)
  return wrong.length === 0 ? 0 : 1
}

process.exitCode = await main()
