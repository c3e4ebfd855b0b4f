/** A sensor and an actuator that clear the open alarms of a type. */
import { actingPlugs, type AlarmPort, causeOf, requireService, RESOURCE_INPUT, resourceOf, touchingAlarm } from '#plug'

export function clearAlarmPlugs(alarms?: AlarmPort) {
  return actingPlugs({
    name: 'clearAlarm',
    version: '1.0.0',
    category: 'Alarms',
    description: 'Clears the active and acknowledged alarms of a type, if any',
    input: {
      type: { type: 'string', mandatory: true, description: 'type of the alarm', example: 'OVERHEATED' },
      resource: { ...RESOURCE_INPUT, description: 'source of the alarms; default: the resource of the node or task' },
    },
    touches: ({ type, resource }, context) => touchingAlarm(resource, type, context),
    output: { alarms: { type: 'array', description: 'the cleared alarms' } },
    async perform(context) {
      const { type } = context.properties
      const cleared = await requireService(alarms, 'alarms').clear(resourceOf(context), type, causeOf(context))
      return { message: `${cleared.length} cleared`, rawData: { alarms: cleared } }
    },
  })
}
