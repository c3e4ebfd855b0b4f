/** A sensor and an actuator that clear what is open of a type of alarm. */
import { actingPlugs, type AlarmPort, causeOf, type Plug, requireService, resourceOf, touchingAlarm } from '#plug'

/** A sensor and an actuator that clear what is open of a source and type. That nothing is open is a success. */
export function clearAlarmPlugs(alarms?: AlarmPort): readonly Plug[] {
  return actingPlugs({
    name: 'clearAlarm',
    version: '1.0.0',
    category: 'Alarms',
    description: 'Clears the alarms of a type that are active or acknowledged, if there are any',
    input: {
      type: { type: 'string', mandatory: true, description: 'what kind of alarm', example: 'OVERHEATED' },
      resource: {
        type: 'string',
        format: { type: 'resource' },
        description: 'the source of the alarms; that of the node or of the task when left out',
        example: 'boiler-1',
      },
    },
    touches: ({ type, resource }, context) => touchingAlarm(resource, type, context),
    output: { alarms: { type: 'array', description: 'the alarms that were cleared' } },
    async perform(context) {
      const { type } = context.properties
      const cleared = await requireService(alarms, 'alarms').clear(resourceOf(context), type, causeOf(context))
      return { message: `${cleared.length} cleared`, rawData: { alarms: cleared } }
    },
  })
}
