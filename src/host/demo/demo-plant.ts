/**
 * The demo plant of a new host: ten machines that send data every second, three days of history, and rules that raise
 * alarms. It continues after a restart, until `removeDemo` removes it.
 */
import { AppError, isPlainObject, messageOf, ownValue, seedOf } from '#kernel'
import type { ResourcesApi } from '#services/resources/contract'
import type { RulesApi } from '#services/rules/contract'
import type { Demo } from '../hosted-service.ts'
import type { Timers } from '../timers.ts'
import { served, type ServiceRegistry } from '../wiring/service-registry.ts'
import { DEMO_TEMPLATE, TEMPLATES } from './demo-rules.ts'
import { INCIDENT, MACHINES, type Plant, readingAt } from './plant-model.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** The resource above all machines; the plant runs while it has the attribute `demo`. */
const ROOT = 'demo-plant'
const HISTORY = 72 * HOUR
/** part of the history that is stored at once */
const SLICE = 3 * HOUR
/** ms between two parts, so that requests are answered */
const PAUSE = 50

const TYPES = [
  {
    id: 'demo-boiler',
    name: 'Boiler',
    metrics: [
      { name: 'temperature', valueType: 'double', unit: '°C' },
      { name: 'pressure', valueType: 'double', unit: 'bar' },
      { name: 'pump', valueType: 'boolean' },
    ],
  },
  {
    id: 'demo-cold-room',
    name: 'Cold room',
    metrics: [
      { name: 'temperature', valueType: 'double', unit: '°C' },
      { name: 'door', valueType: 'boolean' },
      { name: 'power', valueType: 'double', unit: 'kW' },
    ],
  },
]

export interface DemoDependencies {
  readonly tenant: string
  readonly services: ServiceRegistry
  readonly timers: Timers
  /** Returns epoch ms */
  now(): number
  log(text: string): void
}

export class DemoPlant {
  readonly #dependencies: DemoDependencies
  readonly #plant: Plant
  readonly #endings: (() => void)[] = []
  #isOver = false
  #isRemoved = false
  #posting: Promise<void> | undefined
  #filling: Promise<void> = Promise.resolve()
  #resume: () => void = () => undefined

  private constructor(dependencies: DemoDependencies, plant: Plant) {
    this.#dependencies = dependencies
    this.#plant = plant
  }

  /** Creates the plant; `demo` names the pages to look at. Undefined if the host lacks a required service. */
  static async create(dependencies: DemoDependencies): Promise<{ plant: DemoPlant; demo: Demo } | undefined> {
    const { rules, broker, resources, alarms } = dependencies.services
    if (!rules || !broker || !resources || !alarms) return undefined
    const caller = callerOf(dependencies)
    const began = dependencies.now()
    const plant = new DemoPlant(dependencies, { seed: seedOf(`${dependencies.tenant} ${began}`), began })
    const tasks = await createAll(rules.as(caller), resources.as(caller), plant.#plant)
    plant.#begin(false)
    const demo = {
      about: `A demo plant sends data every second; the pump of ${INCIDENT} stops soon. "reflexarc demo reset" removes it.`,
      requests: [{ path: `/api/tasks/${tasks.get(INCIDENT)}/explain?node=alarm` }, { path: '/alarm/alarms' }],
    }
    return { plant, demo }
  }

  /** Continues the plant of an earlier start; undefined if none is stored. */
  static async resume(dependencies: DemoDependencies): Promise<DemoPlant | undefined> {
    const stored = await storedPlant(dependencies.services)
    if (stored === undefined || !dependencies.services.broker) return undefined
    const plant = new DemoPlant(dependencies, stored)
    plant.#begin(stored.isFilled)
    return plant
  }

  async stop(): Promise<void> {
    this.#end()
    await Promise.all([this.#posting, this.#filling])
  }

  #begin(isFilled: boolean): void {
    const { timers } = this.#dependencies
    if (!isFilled) this.#filling = this.#guard('the history of the demo plant', this.#fill())
    const tick = (): void => {
      // a slow host skips a second instead of queueing
      this.#posting ??= this.#guard('data of the demo plant', this.#post()).finally(() => (this.#posting = undefined))
    }
    this.#endings.push(timers.every(SECOND, tick))
  }

  #end(): void {
    this.#isOver = true
    for (const end of this.#endings) end()
    this.#resume()
  }

  async #post(): Promise<void> {
    if (!(await this.#exists())) return
    const time = this.#dependencies.now()
    const messages = MACHINES.flatMap((machine) => {
      const reading = readingAt(this.#plant, machine, time)
      return reading === undefined ? [] : [{ resource: machine.id, ...reading }]
    })
    await served(this.#dependencies.services.broker)
      .as(callerOf(this.#dependencies))
      .posting.events(undefined, messages)
    await this.#exists()
  }

  async #fill(): Promise<void> {
    const { services, log } = this.#dependencies
    const { importing } = served(services.broker)
    const { began } = this.#plant
    await importing.begin()
    for (let from = began - HISTORY; from < began; from += SLICE) {
      if (!(await this.#exists())) return
      await importing.append(this.#samples(from, Math.min(began, from + SLICE)))
      const share = Math.round((100 * (from + SLICE - began + HISTORY)) / HISTORY)
      if (share % 25 === 0) log(`the history of the demo plant is stored to ${share} %`)
      await this.#pause()
    }
    if (await this.#exists()) {
      const demo = { ...this.#plant, isFilled: true }
      await served(services.resources).as(callerOf(this.#dependencies)).resources.patch(ROOT, { demo })
    }
  }

  #samples(from: number, until: number) {
    const samples: { resource: string; metric: string; time: number; value: number | boolean }[] = []
    for (let time = from; time < until; time += MINUTE) {
      for (const machine of MACHINES) {
        const reading = readingAt(this.#plant, machine, time) ?? {}
        for (const [metric, value] of Object.entries(reading)) {
          samples.push({ resource: machine.id, metric, time, value })
        }
      }
    }
    return samples
  }

  async #exists(): Promise<boolean> {
    if (this.#isOver) return false
    this.#isRemoved = (await storedPlant(this.#dependencies.services)) === undefined
    if (this.#isRemoved) this.#end()
    return !this.#isOver
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      this.#resume = resolve
      if (this.#isOver) resolve()
      else this.#endings.push(this.#dependencies.timers.after(PAUSE, resolve))
    })
  }

  async #removeRest(): Promise<void> {
    const { rules, resources } = this.#dependencies.services
    const caller = callerOf(this.#dependencies)
    await removeDemo({ rules: served(rules).as(caller), resources: served(resources).as(caller) })
  }

  async #guard(what: string, work: Promise<void>): Promise<void> {
    try {
      await work
      // data that was in flight during the removal created resources again
      if (this.#isRemoved) await this.#removeRest()
    } catch (error) {
      if (error instanceof AppError && error.code === 'CLOSED') this.#end()
      else this.#dependencies.log(`${what} could not be stored: ${messageOf(error)}`)
    }
  }
}

async function storedPlant({ resources }: ServiceRegistry): Promise<(Plant & { isFilled: boolean }) | undefined> {
  const stored = ownValue(await resources?.lookup(ROOT), 'demo')
  if (!isPlainObject(stored)) return undefined
  const { seed, began, isFilled } = stored
  if (typeof seed !== 'number' || typeof began !== 'number') return undefined
  return { seed, began, isFilled: isFilled === true }
}

function callerOf({ tenant }: DemoDependencies): { readonly tenant: string; readonly user: string } {
  return { tenant, user: 'demo' }
}

async function createAll(
  { templates, tasks }: RulesApi,
  { resources, types }: ResourcesApi,
  plant: Plant,
): Promise<ReadonlyMap<string, string>> {
  await Promise.all([...TYPES.map((type) => types.create(type)), ...TEMPLATES.map((one) => templates.create(one))])
  await resources.create({ id: ROOT, name: 'Demo plant', tags: ['demo'], demo: plant })
  await Promise.all(
    MACHINES.map(({ id, name, type }) =>
      resources.create({ id, name, resourceTypeId: type, parentId: ROOT, tags: ['demo'] }),
    ),
  )
  const ids = new Map<string, string>()
  const wanted = MACHINES.flatMap((machine) => templatesOf(machine.type).map((template) => ({ machine, template })))
  await Promise.all(
    wanted.map(async ({ machine: { id, name }, template }) => {
      const about = template.replace('demo-', '').replaceAll('-', ' ')
      const { ID } = await tasks.create({ name: `${name}: ${about}`, template, resource: id })
      if (template === DEMO_TEMPLATE.name) ids.set(id, ID)
    }),
  )
  return ids
}

function templatesOf(type: string): readonly string[] {
  return type === 'demo-boiler' ? ['demo-overheating', 'demo-low-pressure'] : ['demo-warm-room', 'demo-open-door']
}

/** Removes the plant with its tasks, alarms and data, also what an earlier attempt left; returns false if none exists. */
export async function removeDemo({
  resources: { resources, types },
  rules: { templates },
}: {
  readonly resources: Pick<ResourcesApi, 'resources' | 'types'>
  readonly rules: Pick<RulesApi, 'templates'>
}): Promise<boolean> {
  // the host stops sending data
  const found = [await isThere(resources.patch(ROOT, { demo: null }))]
  const cascade = ['alarms', 'measurements', 'tasks'] as const
  found.push(...(await Promise.all(MACHINES.map(({ id }) => isThere(resources.remove(id, { cascade }))))))
  const rest = [
    resources.remove(ROOT),
    ...TYPES.map(({ id }) => types.remove(id)),
    ...TEMPLATES.map(({ name }) => templates.remove(name)),
  ]
  return [...found, ...(await Promise.all(rest.map(isThere)))].includes(true)
}

async function isThere(removal: Promise<unknown>): Promise<boolean> {
  try {
    await removal
    return true
  } catch (error) {
    if (error instanceof AppError && error.code === 'NOT_FOUND') return false
    throw error
  }
}
