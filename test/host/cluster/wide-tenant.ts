/**
 * Runs a tenant with several partitions, each on a different host if there are enough hosts: tasks that each observe
 * one resource, and one that observes all. At the end, their state must equal that of a single host that received the
 * messages in the order of the log.
 */
import { scheduler } from 'node:timers/promises'
import { createBuiltins } from '../../../plugins/index.ts'
import { createEngine, VirtualClock, type NodeView, type Rule } from '../../../src/index.ts'
import { AppError } from '../../../src/kernel/errors.ts'
import { raisePartitions } from '../../../src/host/cluster/raise-partitions.ts'
import { partitionOf, partitionOfTask } from '../../../src/cluster/partitions/partition.ts'
import { openMemoryBlobs } from '../../../src/storage/memory/memory-objects.ts'
import { openPostgres } from '../../../src/storage/postgres/open.ts'
import type { Client } from '../../../src/client.ts'
import type { ClusterProcesses, MemberProcess } from './cluster-processes.ts'
import { keepLog, keptMessages, type KeptMessage } from './kept-log.ts'
import { post, type Lane } from './lanes.ts'

export const WIDE = 'wide'
const PARTITIONS = 3
const RESOURCES = ['pump-0', 'pump-1', 'pump-2', 'pump-3']

interface WideTask {
  readonly id: string
  /** Type of the task's alarms */
  readonly type: string
  readonly resource: string
  readonly rule: Rule
}

/**
 * Counts the messages of each resource, and raises an alarm whenever all resources have moved. How often that happens
 * depends on the order of the messages.
 */
function ruleOn(type: string, resource: string, others: readonly string[] = []): Rule {
  const heard = [resource, ...others]
  const moved = heard.map((_, n) => `moved${n}`)
  return {
    sensors: heard.flatMap((from, n) => [
      { label: n === 0 ? 'seen' : `seen${n}`, name: 'invokeCount', resource: from },
      { label: `moved${n}`, name: 'changedBy', resource: from, properties: { value: 'n', by: 2 } },
    ]),
    relations: [
      {
        label: 'all',
        type: 'AND',
        parentLabels: ['seen', ...moved],
        combinations: [['Incremented', ...moved.map(() => 'Changed')]],
      },
    ],
    actuators: [{ label: 'told', name: 'createAlarm', properties: { type } }],
    triggers: [{ sourceLabel: 'all', destinationLabel: 'told', statesTrigger: ['TRUE'], invocationPolicy: 0 }],
    task: { name: `${type} ${resource}`, type: 'reactive', resource },
  }
}

export class WideTenant {
  readonly lanes: readonly Lane[]
  readonly #url: string
  readonly #hosts: ClusterProcesses
  readonly #asked: ReadonlySet<MemberProcess>
  readonly #tasks: readonly WideTask[]

  private constructor(
    url: string,
    hosts: ClusterProcesses,
    asked: ReadonlySet<MemberProcess>,
    tasks: readonly WideTask[],
  ) {
    this.#url = url
    this.#hosts = hosts
    this.#asked = asked
    this.#tasks = tasks
    this.lanes = RESOURCES.map((resource, n) => ({ tenant: WIDE, resource, task: tasks[n]?.id ?? '', sent: 0 }))
  }

  /** Creates the tenant on running hosts, with a key of the tenant's name. `url`: address of their database. */
  static async make(url: string, hosts: ClusterProcesses, asked: ReadonlySet<MemberProcess>): Promise<WideTenant> {
    await post(hosts, asked, { tenant: WIDE, resource: 'first', task: '', sent: 0 })
    await keepLog(url)
    const storage = await openPostgres({ url, blobs: openMemoryBlobs() })
    try {
      await raisePartitions(storage, WIDE, PARTITIONS)
    } finally {
      await storage.close()
    }
    const [host] = asked
    const { tasks } = hosts.clientOf(host?.url ?? '', WIDE).rules
    const make = async (type: string, resource: string, others?: readonly string[]): Promise<WideTask> => {
      const rule = ruleOn(type, resource, others)
      return { id: (await untilGiven(() => tasks.create(rule))).ID, type, resource, rule }
    }
    const made: WideTask[] = []
    for (const resource of RESOURCES) made.push(await make('MOVED', resource))
    const [own = '', ...others] = RESOURCES
    made.push(await make('ALL', own, others))
    return new WideTenant(url, hosts, asked, made)
  }

  /** Path in the partition whose task observes all resources */
  get pathOfAll(): string {
    return `/api/tasks/${this.#tasks.at(-1)?.id}`
  }

  /** Returns differences from a single host after sending has stopped. Messages may still be on their way to tasks. */
  async problems(): Promise<readonly string[]> {
    const logs = await keptMessages(this.#url, WIDE)
    const problems: string[] = []
    for (const { resource, sent } of this.lanes) {
      const log = logs.get(partitionOf(resource, PARTITIONS)) ?? []
      const numbers = log.flatMap(({ message }) => (message.resource === resource ? [Number(message['n'])] : []))
      const wrong = numbers.findIndex((number, n) => number !== n)
      if (wrong >= 0) problems.push(`${resource}: message ${numbers[wrong]} came as number ${wrong}`)
      if (numbers.length !== sent)
        problems.push(`${resource}: ${sent} were acknowledged, the log has ${numbers.length}`)
    }
    const alarms = new Map<string, number>()
    for (const task of this.#tasks) {
      const { views, fired } = await asOneHost(task, logs.get(partitionOfTask(task.id, PARTITIONS)) ?? [])
      if (fired > 0) alarms.set(`${task.type} ${task.resource}`, fired)
      problems.push(...(await this.#differences(task, views)))
    }
    return [...problems, ...(await this.#wrongAlarms(alarms))]
  }

  async #differences({ id, type, resource }: WideTask, views: readonly NodeView[]): Promise<readonly string[]> {
    const { inspection } = this.#client.rules
    const nodes = await Promise.all(views.map(({ node }) => inspection.node(id, node)))
    return nodes.flatMap((node, n) => {
      const [is, should] = [node, views[n]].map((one) => JSON.stringify([one?.mostLikelyState?.state, one?.rawData]))
      return is === should ? [] : [`${type} ${resource}: ${views[n]?.node} is ${is}, with one host it is ${should}`]
    })
  }

  /** Compares alarms with the model. An effect that happened twice would count twice. */
  async #wrongAlarms(fired: ReadonlyMap<string, number>): Promise<readonly string[]> {
    const { alarms } = await this.#client.alarms.list({ size: 100 })
    const textOf = (counts: readonly (readonly [string, number])[]) =>
      counts
        .map((one) => one.join(' '))
        .sort()
        .join()
    const is = textOf(alarms.map(({ type, source, count }) => [`${type} ${source.id}`, count]))
    const should = textOf([...fired])
    return is === should ? [] : [`alarms are ${is}, with one host they are ${should}`]
  }

  get #client(): Client {
    const [host] = this.#asked
    return this.#hosts.clientOf(host?.url ?? '', WIDE)
  }
}

/** Retries `ask`, since partitions that are being opened reject requests meanwhile. */
async function untilGiven<R>(ask: () => Promise<R>): Promise<R> {
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof AppError) || error.status !== 503) throw error
      await scheduler.wait(50)
    }
  }
}

/** Simulates the task on one host, with its messages in the order of the log. */
async function asOneHost({ id, rule }: WideTask, log: readonly KeptMessage[]) {
  const clock = new VirtualClock(log[0]?.at ?? 0)
  const engine = createEngine({ plugs: createBuiltins(), scheduler: clock, seed: 1 })
  let fired = 0
  engine.fired$.subscribe(() => void (fired += 1))
  const task = await engine.start(rule, { id })
  for (const { message, at } of log) {
    clock.advanceTo(at)
    engine.receive(message)
  }
  const labels = [...(rule.sensors ?? []), ...(rule.relations ?? [])].map(({ label }) => label)
  const views = labels.map((label) => task.node(label))
  await engine.close()
  return { views, fired }
}
