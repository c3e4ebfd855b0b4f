/** Simulates rules whose tasks act on messages through plugs of the outside world and through other services. */
import type { JsonObject } from '../../../src/kernel/json.ts'
import type { World } from '../world/world.ts'
import { HIGH, RESOURCES } from './broker.ts'
import { NOTE_LIMIT_MS, verifyNotes } from './note-calls.ts'
import type { SentMessage, Shared, SimulatedService } from './simulated-service.ts'

/** What a task created at the beginning does with each high message. */
const KINDS = ['note', 'alarm', 'store', 'metadata', 'count'] as const
type Kind = (typeof KINDS)[number]
/** a kind of task, and the resource of its messages */
type Variant = `${Kind} ${(typeof RESOURCES)[number]}`
const VARIANTS = KINDS.flatMap((kind) => RESOURCES.map((resource): Variant => `${kind} ${resource}`))

interface KnownTask {
  readonly tenant: string
  readonly id: string
  readonly kind: Kind
  readonly resource: string
  /** ms at which the task was requested, at which it was certainly running, and from which its state is unknown */
  readonly askedAt: number
  readonly since: number
  until: number
  /** how deliveries ended according to lists, by id */
  readonly ended: Map<string, string>
}

interface ListedDelivery {
  readonly id: string
  readonly status: string
  readonly error?: string
}

/** Message times are random, so that each counts on arrival, and again when repeated. */
const EACH_MESSAGE = { time: 'arrival', duplicates: 'take' }

/** Lists all deliveries without omissions. */
const ALL_DELIVERIES = '/deliveries?limit=1000'

function listedIn(body: unknown): readonly ListedDelivery[] {
  return (body as { readonly values?: readonly ListedDelivery[] } | undefined)?.values ?? []
}

function acting(kind: Kind, resource: string): JsonObject {
  if (kind === 'note') {
    return {
      name: 'note',
      timeout: `PT${NOTE_LIMIT_MS / 1000}S`,
      retryConfig: { maxRetries: 6, minBackoff: 'PT1S', maxBackoff: 'PT4S' },
      properties: { n: '${streamdata.n}' },
    }
  }
  if (kind === 'alarm')
    return { name: 'createAlarm', properties: { type: `HIGH-${resource}`, text: 'high', severity: 'MAJOR' } }
  if (kind === 'store') {
    const payload = { high: '${streamdata.n}', timestamp: '${streamdata.at}' }
    return { name: 'storeMessage', properties: { resource: `high-${resource}`, payload } }
  }
  return { name: 'updateMetadata', properties: { resource: `last-${resource}`, metadata: { last: '${streamdata.n}' } } }
}

function ruleOf(name: string, kind: Kind, resource: string): JsonObject {
  if (kind === 'count') return countingRule(name, resource)
  return {
    sensors: [{ label: 'level', name: 'condition', resource: '$', properties: { condition: `level > ${HIGH}` } }],
    actuators: [{ label: 'act', ...acting(kind, resource) }],
    triggers: [{ sourceLabel: 'level', destinationLabel: 'act', statesTrigger: ['True'] }],
    task: { name, type: 'reactive', resource, ...EACH_MESSAGE },
  }
}

/** Creates a rule whose state is a number that every message increases. */
function countingRule(name: string, resource: string): JsonObject {
  const metadata = { count: '${nodes.count.rawData.count}' }
  return {
    sensors: [{ label: 'count', name: 'invokeCount', resource: '$' }],
    actuators: [{ label: 'act', name: 'updateMetadata', properties: { resource: `count-${resource}`, metadata } }],
    triggers: [{ sourceLabel: 'count', destinationLabel: 'act', statesTrigger: ['Incremented'] }],
    task: { name, type: 'reactive', resource, ...EACH_MESSAGE },
  }
}

export const rules: SimulatedService = {
  name: 'tasks',
  cast: 0.6,
  livesOn: ['messages'],
  needs: ['broker', 'rules', 'resources', 'alarms'],
  asks: [
    'POST /api/tasks',
    'GET /api/tasks',
    'GET /api/tasks/:id',
    'GET /api/tasks/:id/deliveries',
    'GET /api/tasks/:id/childRuns',
    'POST /api/tasks/:id/command/start',
    'POST /api/tasks/:id/command/stop',
    'POST /api/tasks/:id/command/restart',
    'GET /alarm/alarms',
    'GET /alarm/alarms/:id/why',
    'GET /api/resources/:id',
  ],
  operations: {
    create: { weight: 1, draw: (chance, n) => ({ n, resource: chance.of(RESOURCES) }) },
    stop: {
      weight: 1,
      draw: (chance) => ({ which: chance.below(1000), command: chance.of(['stop', 'start', 'restart']) }),
    },
    look: {
      weight: 2,
      draw: (chance) => ({ which: chance.below(1000), what: chance.of(['', '/deliveries', '/childRuns']) }),
    },
  },
  variants: VARIANTS,
  model: (world, shared, variants) => new Tasks(world, shared, variants as readonly (Variant | Kind)[]),
}

class Tasks {
  readonly #world: World
  readonly #shared: Shared
  readonly #variants: readonly (Variant | Kind)[]
  readonly #tasks: KnownTask[] = []
  /** number of tasks by tenant whose creation has an unknown outcome */
  readonly #unknown = new Map<string, number>()

  constructor(world: World, shared: Shared, variants: readonly (Variant | Kind)[]) {
    this.#world = world
    this.#shared = shared
    this.#variants = variants
  }

  async prepare(tenant: string): Promise<void> {
    for (const resource of RESOURCES) {
      for (const kind of KINDS) {
        // older plans name only the kind, which means one task per resource
        const isThere = this.#variants.includes(`${kind} ${resource}`) || this.#variants.includes(kind)
        if (isThere) await this.#create(tenant, `${kind}-${resource}`, kind, resource)
      }
    }
  }

  act(name: string, tenant: string, given: JsonObject): void {
    const world = this.#world
    if (name === 'create') {
      const { n, resource } = given as { n: number; resource: string }
      world.work(`task ${n}`, () => this.#create(tenant, `later-${n}`, 'note', resource))
      return
    }
    const notes = this.#tasks.filter((one) => one.tenant === tenant && one.kind === 'note')
    const task = notes[(given['which'] as number) % Math.max(notes.length, 1)]
    if (task === undefined) return
    const url = `/api/tasks/${encodeURIComponent(task.id)}`
    if (name === 'look') world.work(`look ${task.id}`, () => this.#look(task, given['what'] as string))
    else {
      task.until = Math.min(task.until, world.now)
      world.work(
        `task ${task.id}`,
        async () =>
          void (await world.ask({ method: 'POST', url: `${url}/command/${given['command'] as string}`, tenant })),
      )
    }
  }

  async #look({ tenant, id, ended }: KnownTask, what: string): Promise<void> {
    const path = what === '/deliveries' ? ALL_DELIVERIES : what
    const url = `/api/tasks/${encodeURIComponent(id)}${path}`
    const { answer } = await this.#world.ask({ method: 'GET', url, tenant })
    if (path !== ALL_DELIVERIES) return
    for (const one of listedIn(answer?.body)) {
      if (one.status === 'delivered' || one.status === 'dead') ended.set(one.id, one.status)
    }
  }

  async #create(tenant: string, name: string, kind: Kind, resource: string): Promise<void> {
    const askedAt = this.#world.now
    const outcome = await this.#world.ask({
      method: 'POST',
      url: '/api/tasks',
      tenant,
      body: ruleOf(name, kind, resource),
    })
    if (outcome.kind === 'unknown') this.#unknown.set(tenant, (this.#unknown.get(tenant) ?? 0) + 1)
    if (outcome.kind === 'refused' && outcome.answer !== undefined)
      this.#world.find('well formed is taken', `${name}: ${JSON.stringify(outcome.answer.body)}`)
    if (outcome.kind !== 'answered') return
    const { ID } = outcome.answer.body as { ID: string }
    this.#tasks.push({
      tenant,
      id: ID,
      kind,
      resource,
      askedAt,
      since: this.#world.now,
      until: Infinity,
      ended: new Map(),
    })
  }

  async verify(tenant: string): Promise<void> {
    await this.#verifyTasks(tenant)
    for (const task of this.#tasks) {
      if (task.tenant !== tenant) continue
      if (task.kind === 'note') verifyNotes(this.#world, task, this.#inputsOf(task))
      if (task.kind === 'alarm') await this.#verifyAlarms(task)
      if (task.kind === 'store') await this.#verifyStored(task)
      if (task.kind === 'count') await this.#verifyCount(task)
      if (task.kind === 'metadata') await this.#verifyMetadata(task)
      await this.#verifyDeliveries(task)
    }
  }

  async #verifyTasks(tenant: string): Promise<void> {
    const answer = await this.#world.look({ method: 'GET', url: '/api/tasks?hits=1000', tenant })
    if (!Array.isArray(answer.body)) return
    const all = answer.body as readonly { ID: string; status: string; resource?: string }[]
    const listed = all.filter(({ resource }) => RESOURCES.some((one) => one === resource))
    const known = this.#tasks.filter((one) => one.tenant === tenant)
    const byId = new Map(listed.map((one) => [one.ID, one]))
    for (const { id, until } of known) {
      const found = byId.get(id)
      if (found === undefined)
        this.#world.find('acknowledged is kept', `task ${id} of ${tenant} was made, and is not there`)
      else if (until === Infinity && found.status !== 'running')
        this.#world.find('acknowledged is kept', `task ${id} of ${tenant} is ${found.status}`)
    }
    const most = known.length + (this.#unknown.get(tenant) ?? 0)
    if (listed.length > most)
      this.#world.find('nothing else is there', `${tenant} has ${listed.length} tasks, and made at most ${most}`)
  }

  /** Returns the messages on which the task certainly acts, and on which it may act. */
  #inputsOf({ tenant, resource, askedAt, since, until }: KnownTask): {
    certain: readonly SentMessage[]
    possible: readonly SentMessage[]
  } {
    const high = this.#shared.messages.filter(
      (one) => one.tenant === tenant && one.resource === resource && one.level > HIGH && one.mayBeThere,
    )
    const possible = high.filter((one) => one.ackedAt === undefined || one.ackedAt >= askedAt)
    const certain = high.filter((one) => one.ackedAt !== undefined && one.sentAt >= since && until === Infinity)
    return { certain, possible }
  }

  async #verifyAlarms(task: KnownTask): Promise<void> {
    const { certain, possible } = this.#inputsOf(task)
    const url = `/alarm/alarms?type=HIGH-${task.resource}&size=1000`
    const answer = await this.#world.look({ method: 'GET', url, tenant: task.tenant })
    const { alarms = [] } = answer.body as { alarms?: readonly { id: string; count: number; status: string }[] }
    for (const { id } of alarms) await this.#verifyWhy(task, id)
    const count = alarms.reduce((sum, one) => sum + one.count, 0)
    const most = possible.reduce((sum, { attempts }) => sum + attempts, 0)
    if (count < certain.length || count > most) {
      this.#world.find(
        'acts once',
        `alarms HIGH-${task.resource} of ${task.tenant} count ${count}; from ${certain.length} to ${most} would be right`,
      )
    }
    if (alarms.filter(({ status }) => status !== 'CLEARED').length > 1)
      this.#world.find('one open alarm', `HIGH-${task.resource} of ${task.tenant} is open several times`)
  }

  async #verifyWhy({ id: task, tenant }: KnownTask, alarm: string): Promise<void> {
    const url = `/alarm/alarms/${encodeURIComponent(alarm)}/why`
    const { body } = await this.#world.look({ method: 'GET', url, tenant })
    const { cause, explanation } = body as { cause?: { task: string } | null; explanation?: unknown }
    if (cause?.task !== task || explanation === null || explanation === undefined)
      this.#world.find('says why', `alarm ${alarm} of task ${task}: ${JSON.stringify(body)}`)
  }

  async #verifyStored(task: KnownTask): Promise<void> {
    const { certain, possible } = this.#inputsOf(task)
    const range = 'from=0&until=4000000000000'
    const url = `/resources/high-${task.resource}/series/high/raw?${range}&limit=2000`
    const answer = await this.#world.look({ method: 'GET', url, tenant: task.tenant })
    const { series = [] } = answer.body as { series?: readonly (readonly [number, number])[] }
    const values = series.map(([, value]) => value)
    const found = new Set(values)
    for (const { n } of certain)
      if (!found.has(n)) this.#world.find('acts once', `task ${task.id} never stored message ${n}`)
    const allowed = new Set(possible.map(({ n }) => n))
    for (const n of found)
      if (!allowed.has(n)) this.#world.find('nothing else is there', `task ${task.id} stored message ${n}`)
    if (found.size < values.length) this.#world.find('acts once', `task ${task.id} stored a message twice`)
  }

  /** Checks that everything deliverable was delivered, and that finished deliveries stay listed. */
  async #verifyDeliveries(task: KnownTask): Promise<void> {
    const url = `/api/tasks/${task.id}${ALL_DELIVERIES}`
    const answer = await this.#world.look({ method: 'GET', url, tenant: task.tenant })
    const deliveries = listedIn(answer.body)
    const now = new Map(deliveries.map(({ id, status }) => [id, status]))
    for (const [id, status] of task.ended)
      if (now.get(id) !== status)
        this.#world.find('stays listed', `delivery ${id} was ${status}, and is ${now.get(id)}`)
    if (task.until < Infinity) return
    for (const { id, status, error } of deliveries) {
      if (status !== 'delivered') this.#world.find('all is delivered', `delivery ${id} is ${status}: ${error}`)
    }
  }

  async #verifyCount(task: KnownTask): Promise<void> {
    const of = this.#shared.messages.filter((one) => one.tenant === task.tenant && one.resource === task.resource)
    const least = of.filter(({ ackedAt }) => ackedAt !== undefined).length
    const most = of.filter(({ mayBeThere }) => mayBeThere).reduce((sum, { attempts }) => sum + attempts, 0)
    const url = `/api/resources/count-${task.resource}`
    const answer = await this.#world.look({ method: 'GET', url, tenant: task.tenant })
    const { count = 0 } = answer.body as { count?: number }
    if (count < least || count > most) {
      this.#world.find(
        'state is kept',
        `task ${task.id} counts ${count} messages; from ${least} to ${most} would be right`,
      )
    }
  }

  async #verifyMetadata(task: KnownTask): Promise<void> {
    const { certain, possible } = this.#inputsOf(task)
    const answer = await this.#world.look({
      method: 'GET',
      url: `/api/resources/last-${task.resource}`,
      tenant: task.tenant,
    })
    const { last } = answer.body as { last?: number }
    const newest = Math.max(-1, ...certain.map(({ sentAt }) => sentAt))
    if (certain.length > 0 && last === undefined) this.#world.find('acts once', `task ${task.id} never wrote`)
    if (last === undefined) return
    const written = possible.find(({ n }) => n === last)
    if (written === undefined) this.#world.find('nothing else is there', `task ${task.id} wrote ${last}`)
    else if (written.ackedAt !== undefined && written.ackedAt < newest)
      this.#world.find(
        'order',
        `last-${task.resource} of ${task.tenant} is ${last}, and a message that was sent after that was acknowledged wrote too`,
      )
  }
}
