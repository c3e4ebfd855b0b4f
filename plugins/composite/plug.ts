/** A sensor that runs another sensor once for each item of a list of properties. */
import {
  actsWith,
  AppError,
  callInner,
  definePlug,
  isPlainObject,
  namesRead,
  type Plug,
  problemsOfCode,
  touchesWith,
} from '#plug'

const MAX_ITEMS = 1000

export function createComposite(plugs: readonly Plug[]) {
  const sensors = new Map(plugs.filter(({ kind }) => kind === 'sensor').map((plug) => [plug.name, plug]))
  const sensorOf = (name: string): Plug => {
    const plug = sensors.get(name)
    if (plug !== undefined) return plug
    throw new AppError('PLUG_FAILED', `"${name}" is not a sensor; use one of ${[...sensors.keys()].join(', ')}`)
  }
  return definePlug({
    name: 'composite',
    version: '1.0.0',
    kind: 'sensor',
    description: 'Runs a sensor once for each item of a list of properties. Error when one of the runs fails.',
    category: 'Logic',
    // an item of the wrong shape fails the call before anything runs
    acts({ sensor, propertyList }) {
      const plug = sensors.get(sensor)
      return plug !== undefined && propertyList.some((item) => isPlainObject(item) && actsWith(plug, item))
    },
    // a sensor that does not declare what it touches keeps its calls in order
    touches({ sensor, propertyList }, context) {
      const plug = sensors.get(sensor)
      const items = propertyList.filter((item) => isPlainObject(item))
      if (plug === undefined) return []
      return [...new Set(items.flatMap((item) => touchesWith(plug, item, context) ?? [`composite:${sensor}`]))]
    },
    parameters: ({ sensor, propertyList }) =>
      sensor === undefined || propertyList === undefined ? undefined : namesOf(sensors.get(sensor), propertyList),
    states: ['Success', 'Error'],
    input: {
      sensor: { type: 'string', mandatory: true, description: 'the name of the sensor plug', example: 'inRange' },
      propertyList: {
        type: 'array',
        mandatory: true,
        description: 'properties of each run, as a list of objects or its JSON text',
        example: [{ value: 21, lowerLimit: 18, upperLimit: 24 }],
      },
    },
    output: { response: { type: 'array', description: 'state and rawData, or error, of each run, in order' } },
    check: ({ sensor, propertyList }) => [
      ...problemsOfCode('sensor', sensor, sensorOf),
      ...problemsOfCode('propertyList', propertyList, itemsOf),
    ],
    async execute(context) {
      const plug = sensorOf(context.properties.sensor)
      const items = itemsOf(context.properties.propertyList)
      const memories: readonly unknown[] = Array.isArray(context.internalState) ? context.internalState : []
      const response: unknown[] = []
      const kept: unknown[] = []
      let failed = false
      // sequentially, so that randomness and logs keep their order
      for (const [index, item] of items.entries()) {
        const result = await callInner(plug, context, item, memories[index] ?? undefined, index)
        if ('error' in result) {
          failed = true
          response.push(result)
          kept.push(memories[index] ?? null)
          continue
        }
        const { internalState, ...shown } = result
        response.push(shown)
        kept.push(internalState ?? memories[index] ?? null)
      }
      return { state: failed ? 'Error' : 'Success', rawData: { response }, internalState: kept }
    },
  })
}

function namesOf(plug: Plug | undefined, items: readonly unknown[]): readonly string[] | undefined {
  const names = new Set<string>()
  for (const item of items) {
    const read = plug && isPlainObject(item) ? namesRead(plug, item) : undefined
    if (read === undefined) return undefined
    for (const name of read) names.add(name)
  }
  return [...names]
}

function itemsOf(list: readonly unknown[]): readonly Readonly<Record<string, unknown>>[] {
  if (list.length > MAX_ITEMS)
    throw new AppError('PLUG_FAILED', `propertyList has ${list.length} items, at most ${MAX_ITEMS} are run`)
  return list.map((item, index) => {
    if (isPlainObject(item)) return item
    throw new AppError('PLUG_FAILED', `item ${index} of propertyList is not an object; use one such as {"value": 21}`)
  })
}
