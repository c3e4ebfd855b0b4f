/** What is deleted with a resource when it is asked for: its alarms, its series and messages, its tasks. */
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
/** tasks of one reading */
const PORTION = 100

/** Each may be repeated; a service that is not served has nothing to delete. */
export function resourceCascades({ alarms, broker, rules }: CascadeServices): Cascades {
  return {
    // Alarms go in the background: there may be many.
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
