/** Deletions that accompany the deletion of a resource on request: alarms, series and messages, tasks. */
import type { AlarmsService } from '#services/alarms/contract'
import type { BrokerService } from '#services/broker/contract'
import type { Cascades } from '#services/resources/contract'
import type { RulesService } from '#services/rules/contract'

export interface CascadeServices {
  alarms(): AlarmsService | undefined
  broker(): BrokerService | undefined
  rules(): RulesService | undefined
}

const USER = 'system/engine'
/** Tasks read at once */
const PORTION = 100

/** Each step is idempotent; a service that is not served is skipped. */
export function resourceCascades({ alarms, broker, rules }: CascadeServices): Cascades {
  return {
    // in the background: there may be many
    alarms: async (tenant, resource) => {
      const query = { source: resource }
      await alarms()?.as({ tenant, user: USER }).batches.queue({ entity: 'alarm', action: 'delete', query })
    },
    measurements: async (tenant, resource) => {
      await broker()?.as({ tenant, user: USER }).series.remove({ resource })
    },
    tasks: async (tenant, resource) => {
      const tasks = rules()?.as({ tenant, user: USER }).tasks
      if (tasks === undefined) return
      for (let left = true; left;) {
        const { values } = await tasks.list({ where: { resource }, hits: PORTION, startIndex: 0 })
        for (const { ID } of values) await tasks.remove(ID, { forceStop: true })
        left = values.length === PORTION
      }
    },
  }
}
