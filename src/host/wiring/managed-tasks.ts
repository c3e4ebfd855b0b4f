/**
 * Manages tasks of resources with the rules service. Managed tasks are marked by tags and by the user who created them.
 */
import { AppError, type Caller, isPlainObject, type Rights } from '#kernel'
import type { ManagedTasks, UnstartableTask, WantedTask } from '#services/resources/contract'
import type { RulesApi, InternalRules, TaskEntity, TaskSpecification } from '#services/rules/contract'

const ENGINE = 'system/engine'
const MANAGED = 'managed'
const RESOURCE = 'managedResource'
const TYPE = 'managedType'
const KEY = 'managedKey'
const PAGE = 1000

type Managed = Awaited<ReturnType<ManagedTasks['of']>>[number]

export function managedTasks(tenant: string, rules: () => InternalRules | undefined): ManagedTasks {
  const caller: Caller = { tenant, user: ENGINE }
  const api = (rights?: Rights): RulesApi => {
    const service = rules()
    if (service === undefined)
      throw new AppError('CLOSED', 'this host does not serve rules; tasks are created once it does')
    return service.as({ ...caller, ...(rights && { rights }) })
  }
  return {
    of: async (resources) => {
      if (resources.length === 0) return []
      const { tasks } = api()
      const where = { user: ENGINE, tags: resources.map((value) => ({ key: RESOURCE, value })) }
      const found: Managed[] = []
      for (let startIndex = 0; ; startIndex += PAGE) {
        const { values } = await tasks.list({ where, hits: PAGE, startIndex }, { format: 'bn', withoutGraph: true })
        for (const task of values) found.push(...markOf(task))
        if (values.length < PAGE) return found
      }
    },
    check: async ({ templateName, settings }) => {
      const served = rules()?.as(caller)
      return served && unstartable({ ...(await defaultsOf(served, templateName)), ...settings }, served)
    },
    make: async (wanted) => {
      await api(wanted.rights).tasks.create(specificationOf(wanted))
    },
    rebind: async (resource) => {
      await rules()?.rebind(resource)
    },
    remove: async (taskId) => {
      try {
        await api().tasks.remove(taskId, { forceStop: true })
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'NOT_FOUND') throw error
      }
    },
  }
}

/** A missing template has no defaults, since it may be created later. */
async function defaultsOf({ templates }: RulesApi, name: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const { taskDefaults } = await templates.get(name)
    return { ...taskDefaults }
  } catch (error) {
    if (error instanceof AppError && error.code === 'NOT_FOUND') return {}
    throw error
  }
}

const TYPES: readonly unknown[] = ['onetime', 'scheduled', 'reactive', 'periodic']

async function unstartable(
  { type, frequency, pollingInterval, cron, rrule, timeZone }: Readonly<Record<string, unknown>>,
  { tools }: RulesApi,
): Promise<UnstartableTask | undefined> {
  if (type !== undefined && !TYPES.includes(type)) {
    return { setting: 'type', message: `${JSON.stringify(type)} is not a type of tasks`, suggestion: TYPES.join(', ') }
  }
  if (type === 'periodic' && frequency === undefined && pollingInterval === undefined) {
    return { setting: 'frequency', message: 'is missing: a periodic task needs one', suggestion: 'milliseconds' }
  }
  if (type !== 'scheduled') return undefined
  const expression = cron ?? rrule
  if (typeof expression !== 'string') {
    return { setting: 'cron', message: 'is missing: a scheduled task needs it, or rrule', suggestion: '0 0 12 * * ?' }
  }
  try {
    await tools.nextRuns({ expression, ...(typeof timeZone === 'string' && { zone: timeZone }), count: 1 })
    return undefined
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error
    return { setting: cron === undefined ? 'rrule' : 'cron', message: error.message }
  }
}

function markOf({ ID, tags }: TaskEntity): readonly Managed[] {
  const { [RESOURCE]: resource, [KEY]: key, [TYPE]: type } = tags
  if (typeof resource !== 'string' || typeof key !== 'string' || typeof type !== 'string') return []
  return [{ resource, key, type, taskId: ID }]
}

function specificationOf({ resource, type, key, templateName, settings }: WantedTask): TaskSpecification {
  const { tags, ...others } = settings
  const specification = {
    ...others,
    template: templateName,
    name: `${templateName} ${resource}`,
    resource,
    start: true,
    tags: { ...(isPlainObject(tags) && tags), [MANAGED]: true, [RESOURCE]: resource, [TYPE]: type, [KEY]: key },
  }
  return specification
}
