/** Managed tasks of resources over the rules service. Their mark is three tags and the user who made them. */
import { AppError } from '../kernel/errors.ts'
import type { Caller } from '../kernel/caller.ts'
import { isPlainObject } from '../kernel/json.ts'
import type { ManagedTasks, WantedTask } from '../services/resources/contract.ts'
import type { RulesApi, RulesService, TaskEntity, TaskSpecification } from '../services/rules/contract.ts'

const ENGINE = 'system/engine'
const MANAGED = 'managed'
const TYPE = 'managedType'
const KEY = 'managedKey'
/** tasks of one resource that are read at a time */
const PAGE = 500

/** `rules` is asked at each call: `CLOSED` while there are none. */
export function managedTasks(rules: () => RulesService | undefined): ManagedTasks {
  const api = (tenant: string): RulesApi => {
    const service = rules()
    if (service === undefined) throw new AppError('CLOSED', 'this host serves no rules; tasks are made once it does')
    return service.as(callerOf(tenant))
  }
  return {
    of: async (tenant, resource) => {
      const { tasks } = api(tenant)
      const where = { resource, user: ENGINE, tags: [{ key: MANAGED }] }
      const found: { key: string; type: string; taskId: string }[] = []
      for (let startIndex = 0; ; startIndex += PAGE) {
        const { values } = await tasks.list({ where, hits: PAGE, startIndex }, { format: 'bn', withoutGraph: true })
        // nodes of tasks of other resources may look at this one
        for (const task of values) if (task.resource === resource) found.push(...markOf(task))
        if (values.length < PAGE) return found
      }
    },
    make: async (tenant, wanted) => {
      const { tasks } = api(tenant)
      const { resource, key } = wanted
      const tags = [{ key: KEY, value: key }]
      if ((await tasks.count({ resource, user: ENGINE, tags })) > 0) return
      await tasks.create(specificationOf(wanted))
    },
    remove: async (tenant, taskId) => {
      try {
        await api(tenant).tasks.remove(taskId, { forceStop: true })
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'NOT_FOUND') throw error
      }
    },
  }
}

function callerOf(tenant: string): Caller {
  return { tenant, user: ENGINE }
}

function markOf({ ID, tags }: TaskEntity): readonly { key: string; type: string; taskId: string }[] {
  const { [KEY]: key, [TYPE]: type } = tags
  return typeof key === 'string' && typeof type === 'string' ? [{ key, type, taskId: ID }] : []
}

function specificationOf({ resource, type, key, templateName, settings }: WantedTask): TaskSpecification {
  const { tags, ...others } = settings
  const specification = {
    ...others,
    template: templateName,
    name: `${templateName} ${resource}`,
    resource,
    start: true,
    tags: { ...(isPlainObject(tags) && tags), [MANAGED]: true, [TYPE]: type, [KEY]: key },
  }
  // the service reads it as it reads any body
  return specification
}
