/** Simulates rules that receive changes of objects: each change once, in order. */
import type { JsonObject } from '../../../src/kernel/json.ts'
import type { World } from '../world/world.ts'
import { OBJECT_BUCKET, OBJECT_PATHS } from './objects.ts'
import type { ChangedObject, ServiceModel, Shared, SimulatedService } from './simulated-service.ts'

export const objectRules: SimulatedService = {
  name: 'objectRules',
  onlyWhenDrawn: true,
  drawnApart: true,
  cast: 0.05,
  livesOn: ['objects'],
  needs: ['objects', 'subscriptions', 'rules', 'resources', 'alarms'],
  asks: ['POST /api/tasks', 'GET /alarm/alarms', 'GET /api/resources/:id'],
  operations: {
    look: { weight: 3, draw: (chance) => ({ which: chance.below(1000) }) },
  },
  variants: OBJECT_PATHS,
  model: (world, shared, variants) => new ObjectRules(world, shared, variants),
}

class ObjectRules implements ServiceModel {
  readonly #world: World
  readonly #shared: Shared
  readonly #paths: readonly string[]
  /** highest number of changes that an object's alarm has shown, by tenant and path */
  readonly #told = new Map<string, number>()

  constructor(world: World, shared: Shared, paths: readonly string[]) {
    this.#world = world
    this.#shared = shared
    this.#paths = paths
  }

  async prepare(tenant: string): Promise<void> {
    for (const path of this.#paths) {
      await this.#world.look({ method: 'POST', url: '/api/tasks', tenant, body: ruleOf(path) })
    }
  }

  act(_name: string, tenant: string, given: JsonObject): void {
    const path = this.#paths[(given['which'] as number) % this.#paths.length] ?? ''
    this.#world.work(`changes of ${path} ${tenant}`, async () => {
      const { kind, answer } = await this.#world.ask(alarmOf(tenant, path))
      if (kind === 'answered') this.#heard(tenant, path, answer.body)
    })
  }

  async verify(tenant: string): Promise<void> {
    for (const path of this.#paths) {
      const { body } = await this.#world.look(alarmOf(tenant, path))
      const count = this.#heard(tenant, path, body)
      const object = this.#shared.objects.find((one) => one.tenant === tenant && one.path === path)
      const { least, most } = object ?? { least: 0, most: 0 }
      if (count < least || count > most)
        this.#find(tenant, path, `was told of ${count} changes; from ${least} to ${most} would be right`)
      if (count > 0 && object !== undefined) await this.#verifyLast(object)
    }
  }

  /** Checks that the last change that a rule received matches the object. */
  async #verifyLast({ tenant, path, etag }: ChangedObject): Promise<void> {
    const { body } = await this.#world.look({ method: 'GET', url: `/api/resources/${textOf(path)}`, tenant })
    const { event, etag: last } = body as { event?: string; etag?: string }
    const isRight = etag === null ? event === 'delete' : event === 'put' && last === etag
    if (etag !== undefined && !isRight)
      this.#find(tenant, path, `was told last: ${event} ${last}; its etag is ${etag ?? 'none, it is not there'}`)
  }

  /** Returns the number of changes that the alarm counts, which must never decrease. */
  #heard(tenant: string, path: string, body: unknown): number {
    const { alarms = [] } = body as { alarms?: readonly { count: number }[] }
    const count = alarms.reduce((sum, one) => sum + one.count, 0)
    const key = `${tenant} ${path}`
    const before = this.#told.get(key) ?? 0
    if (count < before) this.#find(tenant, path, `was told of ${count} changes, and before of ${before}`)
    this.#told.set(key, count)
    return count
  }

  #find(tenant: string, path: string, text: string): void {
    this.#world.find('rules hear of objects', `the rule about ${path} of ${tenant} ${text}`)
  }
}

function alarmOf(tenant: string, path: string) {
  return { method: 'GET', url: `/alarm/alarms?type=${textOf(path)}&size=1000`, tenant } as const
}

function ruleOf(path: string): JsonObject {
  const told = { event: '${nodes.changed.rawData.event}', etag: '${nodes.changed.rawData.object.etag}' }
  const name = textOf(path)
  return {
    sensors: [{ label: 'changed', name: 'objectEvent', resource: '$', properties: { prefix: path } }],
    actuators: [
      { label: 'tell', name: 'updateMetadata', properties: { resource: name, metadata: told } },
      { label: 'count', name: 'createAlarm', properties: { type: name, text: 'changed', severity: 'MINOR' } },
    ],
    triggers: ['tell', 'count'].map((destinationLabel) => ({
      sourceLabel: 'changed',
      destinationLabel,
      statesTrigger: ['Put', 'Deleted'],
    })),
    task: { name, type: 'reactive', resource: OBJECT_BUCKET },
  }
}

/** Converts the path to a name. */
function textOf(path: string): string {
  return `told-${path.replaceAll('/', '-')}`
}
