/** Deletes what belongs to a deleted resource on request: alarms, series and messages, tasks. */
import type { AlarmsService } from '#services/alarms/contract'
import type { BrokerService } from '#services/broker/contract'
import type { Cascades } from '#services/resources/contract'
import type { RulesService } from '#services/rules/contract'

export interface CascadeServices {
  readonly tenant: string
  alarms(): AlarmsService | undefined
  broker(): BrokerService | undefined
  rules(): RulesService | undefined
}

const USER = 'system/engine'
const PORTION = 100

/** Returns the deletions. Each is idempotent; a service that is not served is skipped. */
export function resourceCascades({ tenant, alarms, broker, rules }: CascadeServices): Cascades {
  const caller = { tenant, user: USER }
  return {
    alarms: async (resource) => {
      const query = { source: resource }
      await alarms()?.as(caller).batches.queue({ entity: 'alarm', action: 'delete', query })
    },
    measurements: async (resource) => {
      await broker()?.as(caller).series.remove({ resource })
    },
    tasks: async (resource) => {
      const tasks = rules()?.as(caller).tasks
      if (tasks === undefined) return
      for (let left = true; left;) {
        const { values } = await tasks.list({ where: { resource }, hits: PORTION, startIndex: 0 })
        for (const { ID } of values) await tasks.remove(ID, { forceStop: true })
        left = values.length === PORTION
      }
    },
  }
}
