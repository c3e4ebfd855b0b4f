/** Simulates templates, their tasks, and moves of these to newer versions: one at a time, all at once, by a roll-out. */
import type { JsonObject } from '../../../src/kernel/json.ts'
import type { World } from '../world/world.ts'
import { KnownThings, type KnownThing } from './known-thing.ts'
import type { ServiceModel, SimulatedService } from './simulated-service.ts'

const NAMES = ['gauge', 'meter'] as const
/** receives only the probes at the end */
const RESOURCE = 'mill'
/** ms within which a task acts on a message when all is well */
const ACTS_MS = 20_000
/** checks of a batch, a second apart */
const LOOKS = 300

export const templates: SimulatedService = {
  name: 'templates',
  onlyWhenDrawn: true,
  asks: [
    'GET /api/templates/:name',
    'POST /api/templates',
    'PUT /api/templates/:name',
    'DELETE /api/templates/:name',
    'POST /api/templates/:name/rollouts',
    'GET /api/templates/:name/rollouts/:id',
    'GET /api/tasks',
    'POST /api/tasks',
    'DELETE /api/tasks/:id',
    'POST /api/tasks/:id/command/reload',
    'POST /api/batch',
    'GET /api/batch/:id',
    'POST /resources/:id/events',
  ],
  operations: {
    create: { weight: 2, draw: (chance, n) => ({ n, name: chance.of(NAMES) }) },
    replace: { weight: 4, draw: (chance, n) => ({ n, name: chance.of(NAMES) }) },
    remove: { weight: 1, draw: (chance) => ({ name: chance.of(NAMES) }) },
    makeTask: { weight: 4, draw: (chance) => ({ name: chance.of(NAMES) }) },
    removeTask: { weight: 1, draw: (chance) => ({ name: chance.of(NAMES), which: chance.below(10) }) },
    reload: { weight: 2, draw: (chance) => ({ name: chance.of(NAMES), which: chance.below(10) }) },
    reloadAll: { weight: 2, draw: (chance) => ({ name: chance.of(NAMES) }) },
    rollOut: { weight: 2, draw: (chance) => ({ name: chance.of(NAMES) }) },
    look: { weight: 2, draw: (chance) => ({ name: chance.of(NAMES) }) },
  },
  model: (world) => new Templates(world),
}

/** The number that a template writes, and those of its tasks, in order; null: the template does not exist. */
interface State {
  readonly writes: number | null
  readonly tasks: readonly number[]
}

type Known = KnownThing<State>

interface ShownTask {
  readonly ID: string
  readonly status: string
  readonly network: { readonly actuators: readonly [{ readonly properties: { readonly n: number } }] }
}

class Templates implements ServiceModel {
  readonly #world: World
  readonly #known: KnownThings<State>

  constructor(world: World) {
    this.#world = world
    this.#known = new KnownThings<State>(world, 'templates are as the model says', { writes: null, tasks: [] })
  }

  act(name: string, tenant: string, given: JsonObject): void {
    const { n = 0, name: template, which = 0 } = given as { n?: number; name: string; which?: number }
    const known = this.#known.of(tenant, template)
    const url = `/api/templates/${template}`
    known.work(async () => {
      if (name === 'create') {
        const question = { method: 'POST', url: '/api/templates', body: templateOf(template, n) } as const
        await known.ask(name, question, (state) => (state.writes === null ? { ...state, writes: n } : undefined))
      } else if (name === 'replace') {
        const question = { method: 'PUT', url, body: templateOf(template, n) } as const
        await known.ask(name, question, (state) => (state.writes === null ? undefined : { ...state, writes: n }))
      } else if (name === 'remove') {
        const act = ({ writes, tasks }: State): State | undefined =>
          writes === null || tasks.length > 0 ? undefined : { writes: null, tasks }
        await known.ask(name, { method: 'DELETE', url }, act)
      } else if (name === 'makeTask') {
        const question = { method: 'POST', url: '/api/tasks', body: taskOf(template) }
        await known.ask(name, { ...question, method: 'POST' }, ({ writes, tasks }) =>
          writes === null ? undefined : { writes, tasks: ordered([...tasks, writes]) },
        )
      } else if (name === 'reloadAll') await this.#reloadAll(known)
      else if (name === 'rollOut') await this.#rollOut(known)
      else await this.#onTask(name, known, which)
    })
  }

  async verify(tenant: string): Promise<void> {
    for (const known of this.#known.atRest(tenant)) {
      const tasks = await this.#see(known)
      if (tasks !== undefined && tasks.length > 0) await this.#probe(known, tasks)
    }
  }

  async #reloadAll(known: Known): Promise<void> {
    const { tenant, name } = known
    const body = { entity: 'task', action: 'reload', query: { template: name } }
    const queued = await this.#world.ask({ method: 'POST', url: '/api/batch', tenant, body })
    known.told('a reload of all', queued, ({ writes, tasks }) => ({ writes, tasks: tasks.map(() => writes ?? 0) }))
    // the host may have accepted it, and may carry it out unexpectedly
    if (queued.kind === 'unknown') known.leave()
    if (queued.kind !== 'answered') return
    const { id } = (queued.answer.body as { entity: { id: string } }).entity
    for (let looks = 0; looks < LOOKS;) {
      await this.#world.pause(1000)
      const looked = await this.#world.ask({ method: 'GET', url: `/api/batch/${id}`, tenant })
      // a host that is down makes no progress either
      if (looked.answer !== undefined) looks++
      if (looked.kind !== 'answered') continue
      const { finishedTime, results } = looked.answer.body as { finishedTime?: string; results?: { failure: object } }
      if (finishedTime === undefined) continue
      const failure = JSON.stringify(results?.failure ?? {})
      if (failure !== '{}') known.find(`the reload of all says ${failure}`)
      return
    }
    known.find(`batch ${id} does not come to its end`)
  }

  async #rollOut(known: Known): Promise<void> {
    const { tenant, name } = known
    const url = `/api/templates/${name}`
    const stored = await this.#world.ask({ method: 'GET', url, tenant })
    if (stored.kind !== 'answered') return
    const { version = 0 } = stored.answer.body as { version?: number }
    const body = { version, mode: 'all' }
    const made = await this.#world.ask({ method: 'POST', url: `${url}/rollouts`, tenant, body })
    known.told('a roll-out', made, ({ writes, tasks }) =>
      writes === null ? undefined : { writes, tasks: tasks.map(() => writes) },
    )
    if (made.kind === 'unknown') known.leave()
    if (made.kind !== 'answered') return
    const { id } = made.answer.body as { id: string }
    for (let looks = 0; looks < LOOKS;) {
      await this.#world.pause(1000)
      const looked = await this.#world.ask({ method: 'GET', url: `${url}/rollouts/${id}`, tenant })
      if (looked.answer !== undefined) looks++
      if (looked.kind !== 'answered') continue
      const { status, tasks } = looked.answer.body as { status: string; tasks: { failed: readonly object[] } }
      if (status === 'promoting') continue
      if (status !== 'promoted' || tasks.failed.length > 0)
        known.find(`roll-out ${id} is ${status} with ${JSON.stringify(tasks.failed)}`)
      return
    }
    known.find(`roll-out ${id} does not come to its end`)
  }

  async #onTask(name: string, known: Known, which: number): Promise<void> {
    const tasks = await this.#see(known)
    if (name === 'look' || tasks === undefined || tasks.length === 0) return
    const task = tasks[which % tasks.length] as ShownTask // never empty here
    const before = writtenBy(task)
    const without = ({ tasks: all }: State): readonly number[] => all.toSpliced(all.indexOf(before), 1)
    const url = `/api/tasks/${task.ID}`
    if (name === 'removeTask') {
      await known.ask(name, { method: 'DELETE', url: `${url}?forceStop=true` }, (state) => ({
        ...state,
        tasks: without(state),
      }))
    } else {
      const question = { method: 'POST', url: `${url}/command/reload` } as const
      await known.ask(name, question, (state) => ({
        ...state,
        tasks: ordered([...without(state), state.writes ?? 0]),
      }))
    }
  }

  /** Returns its tasks as the host shows them; undefined: no response. */
  async #see(known: Known): Promise<readonly ShownTask[] | undefined> {
    const { tenant, name } = known
    const of = await this.#world.ask({ method: 'GET', url: `/api/templates/${name}?format=simplified`, tenant })
    const url = `/api/tasks?template=${name}&hits=100&format=simplified`
    const listed = await this.#world.ask({ method: 'GET', url, tenant })
    const isAbsent = of.answer?.status === 404
    if ((of.kind !== 'answered' && !isAbsent) || listed.kind !== 'answered') return undefined
    const writes = isAbsent ? null : writtenBy({ network: of.answer?.body } as ShownTask)
    const shown = listed.answer.body as readonly ShownTask[]
    const text = JSON.stringify({ writes, tasks: ordered(shown.map(writtenBy)) })
    known.see(text, (state) => JSON.stringify(state) === text)
    for (const { ID, status } of shown) if (status !== 'running') known.find(`task ${ID} is ${status}`)
    return shown
  }

  /** Checks that tasks run the version that is shown. */
  async #probe(known: Known, tasks: readonly ShownTask[]): Promise<void> {
    const world = this.#world
    const first = world.notes.list.length
    const url = `/resources/${RESOURCE}/events`
    await world.look({ method: 'POST', url, tenant: known.tenant, body: { level: 1 } })
    await world.pause(ACTS_MS)
    const notes = world.notes.list.slice(first)
    for (const task of tasks) {
      const written = notes.flatMap(({ task: id, n }) => (id === task.ID ? [n] : []))
      if (written.length === 1 && written[0] === writtenBy(task)) continue
      known.find(`task ${task.ID} is shown to write ${writtenBy(task)}, and wrote ${written.join(', ') || 'nothing'}`)
    }
  }
}

function templateOf(name: string, n: number): JsonObject {
  return {
    name,
    sensors: [{ label: 'level', name: 'condition', resource: '$', properties: { condition: 'level > 0' } }],
    actuators: [{ label: 'act', name: 'note', properties: { n } }],
    triggers: [{ sourceLabel: 'level', destinationLabel: 'act', statesTrigger: ['True'] }],
  }
}

function taskOf(template: string): JsonObject {
  return { name: `of ${template}`, template, type: 'reactive', resource: RESOURCE }
}

function writtenBy({ network }: ShownTask): number {
  return network.actuators[0].properties.n
}

function ordered(numbers: readonly number[]): readonly number[] {
  return numbers.toSorted((a, b) => a - b)
}
