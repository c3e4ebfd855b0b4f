/** Connects queries to other services: the port for plugs, and selections of resources. */
import { AppError, type Json } from '#kernel'
import type { QueryPort } from '#core'
import type { ResourcesService } from '#services/resources/contract'
import type { Overrides, InternalQueries, ResourceSelector, RowSet, SelectedResource } from '#services/queries/contract'

const ENGINE = 'system/engine'
const MAX_ROWS = 10_000
/** Result layout for plugs, whatever the query requests. */
const LAYOUT: Overrides = { render: 'COMPACT' }
const PAGE = 100

/** The query's time is a ms after the task's: results include the message that woke the rule, and no later data. */
export function queryPort(tenant: string, queries: () => InternalQueries | undefined): QueryPort {
  return {
    execute: async (source, { now, resource, taskResource }) => {
      const service = queries()
      if (service === undefined) throw new AppError('CLOSED', 'this host does not serve queries')
      const { data, messages } = await service.as({ tenant, user: ENGINE }).execute(source, {
        now: now + 1,
        overrides: { ...LAYOUT, ...(resource !== undefined && { resource }) },
        action: 'plug executeQuery',
        ...(taskResource !== undefined && { resource: taskResource }),
      })
      const [set] = data
      const { columns = [], data: rows } = set as RowSet
      if (rows.length > MAX_ROWS) {
        throw new AppError(
          'TOO_LARGE',
          `the query has ${rows.length} rows, more than the ${MAX_ROWS} that rules can read`,
        )
      }
      return {
        columns: columns.slice(1).map((head) => (typeof head === 'string' ? { metric: head } : head)),
        rows: rows as readonly (readonly [number, ...Json[]])[],
        messages: messages.map(({ message }) => message),
      }
    },
    check: (query) => queries()?.check(query) ?? [],
  }
}

export function resourceSelector(tenant: string, resources: ResourcesService): ResourceSelector {
  return {
    async select({ type, tag, query }, limit) {
      const { list } = resources.as({ tenant, user: ENGINE }).resources
      const wanted = {
        ...(type !== undefined && { resourceTypeId: type }),
        ...(tag !== undefined && { tag }),
        ...(query !== undefined && { query }),
      }
      const found: SelectedResource[] = []
      while (found.length < limit) {
        const { values } = await list({ ...wanted, skip: found.length, limit: PAGE })
        found.push(...values)
        if (values.length < PAGE) break
      }
      return found.slice(0, limit)
    },
  }
}
