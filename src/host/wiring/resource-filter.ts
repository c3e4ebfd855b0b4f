/** Evaluates resource filters of tasks with the listing of the resources service. */
import type { ListQuery, ResourcesService } from '#services/resources/contract'
import type { ResourceFinder } from '#services/rules/contract'

const ENGINE = 'system/engine'
const PAGE = 100

export function resourceFinder(tenant: string, service: ResourcesService): ResourceFinder {
  return {
    find: async ({ type, expression }, limit) => {
      const { resources } = service.as({ tenant, user: ENGINE })
      const wanted: ListQuery = {
        ...(type !== undefined && { resourceTypeId: type }),
        ...(expression !== undefined && { query: expression }),
      }
      const ids: string[] = []
      while (ids.length < limit) {
        const { values } = await resources.list({ ...wanted, skip: ids.length, limit: PAGE })
        ids.push(...values.map(({ id }) => id))
        if (values.length < PAGE) break
      }
      return ids.slice(0, limit)
    },
  }
}
