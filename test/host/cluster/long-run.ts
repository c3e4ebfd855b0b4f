/**
 * `npm run test:cluster -- --minutes 30 [--seed 1] [--only 'stood still'] [--json]`: runs hosts of a cluster over a
 * PostgreSQL with a synchronous standby. Faults (faults.ts) happen again and again, while messages are sent. The end
 * result must be the same as with a single host that was always available; a table lists what held. Exits with 1 when a check failed. With `--json` the verdict is one line on
 * stdout, and the progress is written to stderr.
 */
import { scheduler } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Template } from '../../../src/index.ts'
import { messageOf } from '../../../src/kernel/errors.ts'
import { OLDEST_MAJOR, postgresBinaries } from '../../support/start-postgres.ts'
import { ClusterProcesses } from './cluster-processes.ts'
import { FaultyCluster } from './faults.ts'
import { seen, Senders, type Lane } from './lanes.ts'
import { LaneReader } from './lane-reader.ts'
import { PostgresPair } from './postgres-pair.ts'
import { Verdict } from './verdict.ts'

const TENANTS = Array.from({ length: 6 }, (_, n) => `tenant-${n}`)
/** Time in ms within which work must continue after a fault, and handed-over messages must arrive at the end */
const PATIENCE = 90_000

const COUNTED: Template = {
  name: 'counted',
  sensors: [{ label: 'seen', name: 'invokeCount', resource: '$' }],
  actuators: [{ label: 'told', name: 'createAlarm', properties: { type: 'SEEN' } }],
  // limited to once a day, so that a repeated alarm shows in the count
  triggers: [
    { sourceLabel: 'seen', destinationLabel: 'told', statesTrigger: ['Incremented'], invocationPolicy: 86_400 },
  ],
  taskDefaults: { type: 'reactive' },
}

type Say = (text: string) => void

/** The targets of the messages, and the readers that check them. */
interface Load {
  readonly lanes: readonly Lane[]
  readonly senders: Senders
  readonly readers: readonly LaneReader[]
  /** Stops sending. */
  end(): Promise<void>
}

async function main(): Promise<number> {
  const options = {
    minutes: { type: 'string', default: '30' },
    seed: { type: 'string' },
    only: { type: 'string', default: '' },
    json: { type: 'boolean' },
  } as const
  const { values } = parseArgs({ options })
  const minutes = Number(values.minutes)
  const seed = Number(values.seed ?? Date.now() % 1_000_000)
  const progress = values.json === true ? process.stderr : process.stdout
  const say: Say = (text) => void progress.write(`${new Date().toISOString()} ${text}\n`)
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
  const verdict = new Verdict({ minutes, seed })
  try {
    await hosts.addKeys(TENANTS)
    const cluster = await FaultyCluster.start({ seed, only: values.only }, pair, hosts)
    const load = await begin(hosts, cluster)
    await disturb(cluster, load, { until: Date.now() + minutes * 60_000, verdict, say })
    say('nothing happens any more; what was sent is compared with one host')
    await judge(hosts, cluster, load, verdict)
  } finally {
    await hosts.end()
    await pair.stop()
  }
  process.stdout.write(`${values.json === true ? JSON.stringify(verdict.asJson) : verdict.asText}\n`)
  return verdict.isGood ? 0 : 1
}

async function begin(hosts: ClusterProcesses, { asked }: FaultyCluster): Promise<Load> {
  const [first] = asked
  const lanes = await Promise.all(
    TENANTS.map(async (tenant): Promise<Lane> => {
      const { rules } = hosts.clientOf(first?.url ?? '', tenant)
      await rules.templates.create(COUNTED)
      const resource = `${tenant}-boiler`
      const { ID } = await rules.tasks.create({ template: 'counted', name: resource, resource })
      return { tenant, resource, task: ID, sent: 0 }
    }),
  )
  const over = new AbortController()
  const readers = lanes.map((lane) => new LaneReader(hosts, asked, lane, over.signal))
  const senders = new Senders(hosts, asked, lanes)
  const end = async (): Promise<void> => {
    await senders.end()
    over.abort()
  }
  return { lanes, senders, readers, end }
}

/** Causes faults until the time is over or work does not continue. */
async function disturb(
  cluster: FaultyCluster,
  { lanes, senders }: Load,
  { until, verdict, say }: { readonly until: number; readonly verdict: Verdict; readonly say: Say },
): Promise<void> {
  const total = () => lanes.reduce((sum, { sent }) => sum + sent, 0)
  for (let n = 1; Date.now() < until; n += 1) {
    const what = await cluster.fault()
    const since = Date.now()
    const before = lanes.map(({ sent }) => sent)
    // the message in flight may have been acknowledged before the fault
    const still = () => lanes.filter(({ sent }, at) => sent < (before[at] ?? 0) + 2).map(({ resource }) => resource)
    let last = ''
    while (still().length > 0 && Date.now() - since < PATIENCE) {
      last = still().join()
      await senders.more(1, AbortSignal.timeout(1_000))
    }
    const took = Date.now() - since
    verdict.happened(what, took)
    const goOn = still().length === 0 ? `all go on (${last || 'at once'})` : `${still().join()} do not go on`
    say(`${n}: ${what}; ${goOn} after ${took} ms, ${total()} messages`)
    if (still().length > 0)
      return verdict.check('everything goes on after each fault', [`${still().join()} after: ${what}`])
  }
  verdict.check('everything goes on after each fault', [])
}

async function judge(
  hosts: ClusterProcesses,
  { asked, late }: FaultyCluster,
  { lanes, readers, end }: Load,
  verdict: Verdict,
): Promise<void> {
  const ended = await withinPatience(end())
  verdict.check('what was sent is acknowledged', ended ? [] : [`not within ${PATIENCE} ms`])
  verdict.messages = lanes.reduce((sum, { sent }) => sum + sent, 0)
  verdict.late = late
  await verdict.checking('each message is in the state of its task once', async () => {
    const counts = await Promise.all(lanes.map((lane) => seen(hosts, asked, lane)))
    return lanes.flatMap(({ resource, sent }, n) => {
      return counts[n] === sent ? [] : [`${resource}: ${sent} were acknowledged, its task has seen ${counts[n]}`]
    })
  })
  await verdict.checking('cool-downs have held', async () => {
    const [first] = asked
    const told = await Promise.all(
      lanes.map(async ({ tenant, resource }) => {
        const { alarms } = await hosts.clientOf(first?.url ?? '', tenant).alarms.list({ source: resource })
        return `${resource}: ${alarms.map(({ type, count }) => `${type} ${count}`).join()}`
      }),
    )
    return told.filter((one) => !one.endsWith(': SEEN 1'))
  })
  await verdict.checking('streams have each message once, in order, without a gap', async () => {
    return (await Promise.all(readers.map((reader) => reader.problems()))).flat()
  })
}

/** Resolves to false when `work` takes too long; rejects like `work`. */
function withinPatience(work: Promise<void>): Promise<boolean> {
  return Promise.race([work.then(() => true), scheduler.wait(PATIENCE).then(() => false)])
}

const code = await main().catch((error: unknown) => {
  process.stderr.write(`the run could not be finished: ${messageOf(error)}\n`)
  return 1
})
// ends requests that would still be retried
process.exit(code)
