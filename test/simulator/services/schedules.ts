/**
 * Simulates tasks that a schedule runs: each moment runs once, and moments missed while the host was down are not run
 * one by one.
 */
import type { JsonObject } from '../../../src/kernel/json.ts'
import { REST_MS, SLEPT_MS, type World } from '../world/world.ts'
import type { ServiceModel, SimulatedService } from './simulated-service.ts'

/** ms between two moments of a schedule */
const PERIOD_MS = 15_000
const CRON = '0/15 * * * * ?'
/** how fast a host's time passes at least while the wall clock is behind, as a share of real time */
const PACE = 0.9
/** moments to tolerate at the edges of a period */
const EDGES = 2

/** for runs about schedules, set only by a subject: no task has a schedule at first */
export const NONE_AT_FIRST = 'none at first'

interface Scheduled {
  readonly tenant: string
  readonly id: string
  readonly resource: string
  /** ms at which the schedule was requested */
  readonly askedAt: number
  /** whether a client stopped it */
  isStopped: boolean
}

export const schedules: SimulatedService = {
  name: 'schedules',
  onlyWhenDrawn: true,
  drawnApart: true,
  cast: 0.12,
  livesOn: ['messages', 'tasks'],
  needs: ['rules', 'resources'],
  asks: ['POST /api/tasks', 'POST /api/tasks/:id/command/stop', 'GET /api/tasks/:id', 'GET /api/resources/:id'],
  operations: {
    make: { weight: 3, draw: (chance, n) => ({ n, misfire: chance.of(['skip', 'once']) }) },
    stop: { weight: 1, draw: (chance) => ({ which: chance.below(1000) }) },
    look: { weight: 2, draw: (chance) => ({ which: chance.below(1000) }) },
  },
  model: (world, _shared, variants) => new Schedules(world, variants),
}

class Schedules implements ServiceModel {
  readonly #world: World
  readonly #tasks: Scheduled[] = []

  readonly #variants: readonly string[]

  constructor(world: World, variants: readonly string[]) {
    this.#world = world
    this.#variants = variants
  }

  async prepare(tenant: string): Promise<void> {
    if (!this.#variants.includes(NONE_AT_FIRST)) await this.#make(tenant, 'ticks-first', 'skip')
  }

  act(name: string, tenant: string, given: JsonObject): void {
    const world = this.#world
    if (name === 'make') {
      const { n, misfire } = given as { n: number; misfire: string }
      world.work(`schedule ${n}`, () => this.#make(tenant, `ticks-${n}`, misfire))
      return
    }
    const own = this.#tasks.filter((one) => one.tenant === tenant)
    const task = own[(given['which'] as number) % Math.max(own.length, 1)]
    if (task === undefined) return
    const url = `/api/tasks/${encodeURIComponent(task.id)}`
    if (name === 'stop') task.isStopped = true
    const question =
      name === 'stop'
        ? ({ method: 'POST', url: `${url}/command/stop`, tenant } as const)
        : ({ method: 'GET', url, tenant } as const)
    world.work(`${name} ${task.id}`, async () => void (await world.ask(question)))
  }

  async verify(tenant: string): Promise<void> {
    for (const task of this.#tasks) if (task.tenant === tenant) await this.#verifyCount(task)
  }

  async #make(tenant: string, resource: string, misfire: string): Promise<void> {
    const askedAt = this.#world.now
    const body = ruleOf(resource, misfire)
    const outcome = await this.#world.ask({ method: 'POST', url: '/api/tasks', tenant, body })
    if (outcome.kind === 'refused' && outcome.answer !== undefined)
      this.#world.find('well formed is taken', `${resource}: ${JSON.stringify(outcome.answer.body)}`)
    if (outcome.kind !== 'answered') return
    const { ID: id } = outcome.answer.body as { ID: string }
    this.#tasks.push({ tenant, id, resource, askedAt, isStopped: false })
  }

  /**
   * Checks the number of runs. Moments that were skipped by a clock jump, or missed while the host was down, run at
   * most once each time.
   */
  async #verifyCount({ tenant, id, resource, askedAt, isStopped }: Scheduled): Promise<void> {
    const world = this.#world
    const answer = await world.look({ method: 'GET', url: `/api/resources/${resource}`, tenant })
    const { count = 0 } = answer.body as { count?: number }
    // short jumps do not count as sleep, so moments within them run
    const leapt = world.leapsSince(askedAt).map((ms) => Math.floor(Math.min(ms, SLEPT_MS) / PERIOD_MS) + 1)
    const passed = Math.floor((world.now - askedAt) / PERIOD_MS)
    const most = passed + EDGES + world.life + leapt.reduce((sum, moments) => sum + moments, 0)
    const least = isStopped ? 0 : Math.floor((REST_MS * PACE) / PERIOD_MS) - EDGES
    if (count < least || count > most)
      world.find('schedules are kept', `task ${id} ran ${count} times; from ${least} to ${most} would be right`)
  }
}

function ruleOf(resource: string, misfire: string): JsonObject {
  const metadata = { count: '${nodes.count.rawData.count}' }
  return {
    sensors: [{ label: 'count', name: 'invokeCount' }],
    actuators: [{ label: 'act', name: 'updateMetadata', properties: { resource, metadata } }],
    triggers: [{ sourceLabel: 'count', destinationLabel: 'act', statesTrigger: ['Incremented'] }],
    task: { name: resource, type: 'scheduled', cron: CRON, misfire },
  }
}
