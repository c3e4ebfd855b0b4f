/**
 * Simulates resource types: what resources inherit, which constraints they must meet and which tasks they have, while
 * all of it changes.
 */
import type { JsonObject } from '../../../src/kernel/json.ts'
import type { Outcome, World } from '../world/world.ts'
import { isNoAnswer, KnownThing } from './known-thing.ts'
import type { ServiceModel, SimulatedService } from './simulated-service.ts'

const TYPES = ['door', 'gate'] as const
const RESOURCES = ['north', 'south', 'west'] as const
const TEMPLATES = ['opens', 'closes'] as const
/** the constraint forbids larger widths */
const WIDEST = 10
/** checks of a type whose constraint is being applied to its resources, a second apart */
const LOOKS = 120

export const types: SimulatedService = {
  name: 'types',
  onlyWhenDrawn: true,
  asks: [
    'POST /api/resourceconstraints',
    'GET /api/resourcetypes/:id',
    'PATCH /api/resourcetypes/:id',
    'DELETE /api/resourcetypes/:id',
    'POST /api/resourcetypes/:id/revalidate',
    'GET /api/templates/:name',
    'POST /api/templates',
    'DELETE /api/templates/:name',
    'GET /api/tasks',
    'GET /api/resources/:id',
    'PUT /api/resources/:id',
    'DELETE /api/resources/:id',
  ],
  operations: {
    change: {
      weight: 4,
      draw: (chance, n) => ({
        id: chance.of(TYPES),
        n,
        templates: TEMPLATES.filter(() => chance.is(0.5)),
        isConstrained: chance.is(0.5),
      }),
    },
    remove: { weight: 1, draw: (chance) => ({ id: chance.of(TYPES) }) },
    place: {
      weight: 6,
      draw: (chance) => ({ id: chance.of(RESOURCES), type: chance.of(TYPES), width: chance.of([1, 2, 20, 30]) }),
    },
    drop: { weight: 1, draw: (chance) => ({ id: chance.of(RESOURCES) }) },
    template: { weight: 1, draw: (chance) => ({ id: chance.of(TEMPLATES), isThere: chance.is(0.6) }) },
    look: { weight: 1, draw: (chance) => ({ id: chance.of(RESOURCES) }) },
  },
  model: (world) => new Types(world),
}

interface TypeState {
  /** inherited by its resources */
  readonly n: number
  readonly templates: readonly string[]
  readonly isConstrained: boolean
}

interface ResourceState {
  readonly type: string
  readonly width: number
}

interface Given {
  readonly id: string
  readonly n: number
  readonly templates: readonly string[]
  readonly isConstrained: boolean
  readonly type: string
  readonly width: number
  readonly isThere: boolean
}

interface ShownConstraint {
  readonly status: 'applying' | 'ineffect' | 'failed'
  readonly errors?: readonly { readonly resources: readonly string[] }[]
}

/** The things of one tenant, by id. */
interface Things {
  readonly types: ReadonlyMap<string, KnownThing<TypeState | null>>
  readonly resources: ReadonlyMap<string, KnownThing<ResourceState | null>>
  readonly templates: ReadonlyMap<string, KnownThing<boolean>>
  constraint: string
}

class Types implements ServiceModel {
  readonly #world: World
  readonly #things = new Map<string, Things>()

  constructor(world: World) {
    this.#world = world
  }

  async prepare(tenant: string): Promise<void> {
    const world = this.#world
    const thingsOf = <S>(ids: readonly string[], oracle: string, state: S): ReadonlyMap<string, KnownThing<S>> =>
      new Map(ids.map((name) => [name, new KnownThing(world, { oracle, tenant, name }, state)]))
    const width = { name: 'width', required: true, type: { type: 'numeric', maximum: WIDEST } }
    const body = { name: 'not too wide', attributes: [width] }
    const { body: made } = await world.look({ method: 'POST', url: '/api/resourceconstraints', tenant, body })
    this.#things.set(tenant, {
      types: thingsOf<TypeState | null>(TYPES, 'types are as the model says', null),
      resources: thingsOf<ResourceState | null>(RESOURCES, 'resources of types are as the model says', null),
      templates: thingsOf(TEMPLATES, 'templates of types are as the model says', false),
      constraint: (made as { entity: { id: string } }).entity.id,
    })
  }

  act(name: string, tenant: string, given: JsonObject): void {
    const things = this.#of(tenant)
    const { id, ...wanted } = given as unknown as Given
    if (name === 'change' || name === 'remove') {
      const type = things.types.get(id)
      type?.work(() => (name === 'change' ? this.#change(things, type, wanted) : this.#remove(type)))
    } else if (name === 'template') {
      const template = things.templates.get(id)
      template?.work(() => this.#template(template, wanted.isThere))
    } else {
      const resource = things.resources.get(id)
      resource?.work(async () => {
        const url = `/api/resources/${id}`
        if (name === 'place') await this.#place(resource, wanted)
        else if (name === 'look') await this.#world.ask({ method: 'GET', url, tenant })
        else await resource.ask(name, { method: 'DELETE', url }, (state) => (state === null ? undefined : null))
      })
    }
  }

  async verify(tenant: string): Promise<void> {
    const things = this.#of(tenant)
    for (const type of things.types.values()) await this.#verifyType(things, type)
    for (const resource of things.resources.values()) await this.#verifyResource(things, resource)
  }

  #of(tenant: string): Things {
    const things = this.#things.get(tenant)
    if (things === undefined) throw new Error('nothing was prepared')
    return things
  }

  /** Changes the type, or creates it. */
  async #change(
    { constraint }: Things,
    type: KnownThing<TypeState | null>,
    { n, templates, isConstrained }: Omit<Given, 'id'>,
  ): Promise<void> {
    const body = {
      n,
      templates: templates.map((templateName) => ({ templateName, type: 'reactive' })),
      $constraints: isConstrained ? [constraint] : [],
    }
    const question = { method: 'PATCH', url: `/api/resourcetypes/${type.name}`, body } as const
    await type.ask('a change', question, () => ({ n, templates, isConstrained }))
  }

  /** Removes the type. The host refuses while it has resources, which only other clients know. */
  async #remove(type: KnownThing<TypeState | null>): Promise<void> {
    const { tenant, name } = type
    const outcome = await this.#world.ask({ method: 'DELETE', url: `/api/resourcetypes/${name}`, tenant })
    if (outcome.kind === 'refused' && outcome.answer?.status !== 404) return
    type.told('a removal', outcome, (state) => (state === null ? undefined : null))
  }

  /** Places a resource. The host refuses one that is too wide while the constraint applies. */
  async #place(resource: KnownThing<ResourceState | null>, { type, width }: Omit<Given, 'id'>): Promise<void> {
    const { tenant, name } = resource
    const body = { resourceTypeId: type, width }
    const outcome = await this.#world.ask({ method: 'PUT', url: `/api/resources/${name}`, tenant, body })
    if (width > WIDEST && outcome.kind === 'refused') return
    resource.told('a change', outcome, () => ({ type, width }))
  }

  async #template(template: KnownThing<boolean>, isThere: boolean): Promise<void> {
    const { name } = template
    const sensors = [{ label: 'any', name: 'stream', resource: '$' }]
    const made = { method: 'POST', url: '/api/templates', body: { name, sensors } } as const
    if (isThere) await template.ask('a template', made, (state) => (state ? undefined : true))
    else {
      const { tenant } = template
      const outcome = await this.#world.ask({ method: 'DELETE', url: `/api/templates/${name}`, tenant })
      // tasks use the template, which only other clients know
      if (isInUse(outcome)) return
      template.told('its removal', outcome, (state) => (state ? false : undefined))
    }
  }

  async #verifyType(things: Things, type: KnownThing<TypeState | null>): Promise<void> {
    type.rest()
    const { tenant, name } = type
    const { status, body } = await this.#world.look({ method: 'GET', url: `/api/resourcetypes/${name}`, tenant })
    if (status === 404) return type.see('not there', (state) => state === null)
    const shown = body as { n: number; templates: readonly { templateName: string }[]; $bulkOperation?: string }
    const constraints = constraintsOf(body)
    const seen: TypeState = {
      n: shown.n,
      templates: shown.templates.map(({ templateName }) => templateName),
      isConstrained: constraints.length > 0,
    }
    type.see(JSON.stringify(seen), (state) => JSON.stringify(state) === JSON.stringify(seen))
    if (shown.$bulkOperation !== undefined) type.find(`its operation ${shown.$bulkOperation} does not end`)
    await this.#verifyConstraints(things, type, constraints)
  }

  /** Checks that an active constraint holds, and that validation reports which resources violate it. */
  async #verifyConstraints(
    things: Things,
    type: KnownThing<TypeState | null>,
    constraints: readonly ShownConstraint[],
  ): Promise<void> {
    const wide: string[] = []
    for (const { name, tenant } of things.resources.values()) {
      const { body } = await this.#world.look({ method: 'GET', url: `/api/resources/${name}`, tenant })
      const { resourceTypeId, width = 0 } = body as Partial<{ resourceTypeId: string; width: number }>
      if (resourceTypeId === type.name && width > WIDEST) wide.push(name)
    }
    for (const { status } of constraints) {
      if (status === 'applying') type.find('its constraint is being applied for ever')
      if (status === 'ineffect' && wide.length > 0) type.find(`its constraint holds, and ${wide.join()} does not fit`)
    }
    if (constraints.length === 0) return
    for (const { status, errors = [] } of await this.#revalidated(type)) {
      const found = [...new Set(errors.flatMap(({ resources }) => resources))].sort()
      const right = wide.length > 0 ? 'failed' : 'ineffect'
      if (status !== right || found.join() !== wide.toSorted().join())
        type.find(`held again, its constraint is ${status} for ${found.join()}; ${wide.join()} does not fit`)
    }
  }

  async #revalidated({ tenant, name }: KnownThing<TypeState | null>): Promise<readonly ShownConstraint[]> {
    const url = `/api/resourcetypes/${name}`
    await this.#world.look({ method: 'POST', url: `${url}/revalidate`, tenant })
    for (let looks = 0; looks < LOOKS; looks++) {
      const constraints = constraintsOf((await this.#world.look({ method: 'GET', url, tenant })).body)
      if (constraints.every(({ status }) => status !== 'applying')) return constraints
      await this.#world.pause(1000)
    }
    return [{ status: 'applying' }]
  }

  /** Checks that the resource inherits the current values of its type, and has the tasks of its existing templates. */
  async #verifyResource(things: Things, resource: KnownThing<ResourceState | null>): Promise<void> {
    resource.rest()
    const { tenant, name } = resource
    const { status, body } = await this.#world.look({ method: 'GET', url: `/api/resources/${name}`, tenant })
    const { resourceTypeId, width, n } = body as Partial<{ resourceTypeId: string; width: number; n: number }>
    const seen = status === 404 ? 'null' : JSON.stringify({ type: resourceTypeId, width })
    resource.see(seen, (state) => JSON.stringify(state) === seen)
    const type = things.types.get(resourceTypeId ?? '')?.state
    if (type === undefined) return
    if (type?.n !== n) resource.find(`it shows ${n}, and its type has ${type?.n}`)
    await this.#verifyTasks(resource, type?.templates ?? [])
  }

  async #verifyTasks(resource: KnownThing<ResourceState | null>, wanted: readonly string[]): Promise<void> {
    const { tenant, name } = resource
    const there: string[] = []
    for (const template of wanted) {
      const { status } = await this.#world.look({ method: 'GET', url: `/api/templates/${template}`, tenant })
      if (status === 200) there.push(template)
    }
    const answer = await this.#world.look({ method: 'GET', url: `/api/tasks?resource=${name}&hits=100`, tenant })
    const tasks = answer.body as readonly { template: string; status: string }[]
    const has = tasks.map(({ template, status }) => (status === 'running' ? template : `${template} ${status}`)).sort()
    if (has.join() !== there.toSorted().join())
      resource.find(`it has tasks ${has.join()}; right would be ${there.join()}`)
  }
}

function constraintsOf(body: unknown): readonly ShownConstraint[] {
  return (body as { $constraints?: readonly ShownConstraint[] }).$constraints ?? []
}

function isInUse(outcome: Outcome): boolean {
  return !isNoAnswer(outcome) && outcome.kind === 'refused' && outcome.answer?.status !== 404
}
