/** A sensor that finds alarms by source, status and type. */
import { type AlarmPort, definePlug, problemsOfCode, requireService, RESOURCE_INPUT, resourceOf, textList } from '#plug'

export function getAlarmsByFilterPlug(alarms?: AlarmPort) {
  return definePlug({
    name: 'getAlarmsByFilter',
    version: '1.0.0',
    kind: 'sensor',
    description: 'Found when alarms match all given filters, otherwise Not Found. Returns at most the newest 100.',
    category: 'Alarms',
    parameters: [],
    states: ['Found', 'Not Found'],
    input: {
      resource: { ...RESOURCE_INPUT, description: 'source of the alarms; default: any' },
      status: {
        type: 'any',
        description: 'statuses: a text with commas, or a list',
        example: 'ACTIVE,ACKNOWLEDGED',
      },
      type: { type: 'any', description: 'types: a text with commas, or a list', example: ['OVERHEATED'] },
      history: {
        type: 'boolean',
        defaultValue: false,
        description: 'includes the history of the alarms',
        example: false,
      },
    },
    output: {
      total: { type: 'integer', description: 'number of matching alarms' },
      alarms: { type: 'array', description: 'the newest matching alarms' },
    },
    check: ({ status, type }) => [
      ...problemsOfCode('status', status, textList),
      ...problemsOfCode('type', type, textList),
    ],
    async execute(context) {
      const { properties } = context
      const { resource, history } = properties
      const [status, type] = [textList(properties.status), textList(properties.type)]
      const { total, alarms: found } = await requireService(alarms, 'alarms').find({
        ...(resource !== undefined && { source: resourceOf(context) }),
        ...(status.length > 0 && { status }),
        ...(type.length > 0 && { type }),
        history,
      })
      return { state: total > 0 ? 'Found' : 'Not Found', rawData: { total, alarms: found } }
    },
  })
}
