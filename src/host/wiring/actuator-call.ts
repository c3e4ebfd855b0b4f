/** Runs one actuator for commands to resources, using the rules service's single execution. */
import { AppError, type Json } from '#kernel'
import type { ActuatorCall } from '#services/resources/contract'
import type { RulesService } from '#services/rules/contract'

const ENGINE = 'system/engine'
const NEWEST = 'latest'

export function actuatorCall(tenant: string, rules: () => RulesService | undefined): ActuatorCall {
  return {
    run: async ({ name, version, properties, resource, hops, root, id, rights }) => {
      const service = rules()
      if (service === undefined)
        throw new AppError('CLOSED', 'this host does not serve rules; commands wait for a host that does')
      const led = { hops, ...(root !== undefined && { root }) }
      const { tools } = service.as({ tenant, user: ENGINE, ...(rights && { rights }) })
      const plug = await tools.plug('actions', name, version === NEWEST ? undefined : version)
      const outcome = await tools.call('actions', name, plug.version, { properties, resource }, { id, ...led })
      const { result, message, error, rawData } = outcome
      const text = message ?? error
      return {
        version: plug.version,
        success: result,
        ...(text !== undefined && { message: text }),
        ...(rawData !== undefined && { rawData: rawData as Json }),
      }
    },
  }
}
