import {
  type AlarmPort,
  causeOf,
  definePlug,
  messageOf,
  type Plug,
  type PlugContext,
  requireService,
  resourceOf,
} from '../../src/plug.ts'

const shared = {
  name: 'clearAlarm',
  version: '1.0.0',
  category: 'Alarms',
  input: {
    type: { type: 'string', mandatory: true, description: 'what kind of alarm', example: 'OVERHEATED' },
    resource: {
      type: 'string',
      format: { type: 'resource' },
      description: 'the source of the alarms; that of the node or of the task when left out',
      example: 'boiler-1',
    },
  },
} as const

/** A sensor and an actuator that clear what is open of a source and type. */
export function clearAlarmPlugs(alarms?: AlarmPort): readonly Plug[] {
  const clear = async (context: PlugContext<Properties>) => {
    const { type } = context.properties
    return requireService(alarms, 'alarms').clear(resourceOf(context), type, causeOf(context))
  }
  return [
    definePlug({
      ...shared,
      kind: 'sensor',
      acts: true,
      description:
        'Clears the alarms of a type that are active or acknowledged: Success, also when there are none, else Error.',
      states: ['Success', 'Error'],
      output: {
        alarms: { type: 'array', description: 'the alarms that were cleared' },
        error: { type: 'string', description: 'why they were not' },
      },
      async execute(context) {
        try {
          return { state: 'Success', rawData: { alarms: await clear(context) } }
        } catch (error) {
          return { state: 'Error', rawData: { error: messageOf(error) } }
        }
      },
    }),
    definePlug({
      ...shared,
      kind: 'actuator',
      description: 'Clears the alarms of a type that are active or acknowledged.',
      output: { alarms: { type: 'array', description: 'the alarms that were cleared' } },
      async execute(context) {
        const cleared = await clear(context)
        return { message: `${cleared.length} cleared`, rawData: { alarms: cleared } }
      },
    }),
  ]
}

interface Properties {
  readonly type: string
  readonly resource: string | undefined
}
