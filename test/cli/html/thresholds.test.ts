/** Tests which limits of a rule a report plots. */
import { expect, it } from 'vitest'
import { thresholdsOf } from '../../../src/cli/html/thresholds.ts'

it.each([
  ['streamingDataSensor', { parameter: 'temperature', threshold: 90 }, ['temperature s.threshold 90']],
  ['hysteresis', { value: 'temperature', enter: 80, leave: 70 }, ['temperature s.enter 80', 'temperature s.leave 70']],
  ['streamingRangeSensor', { parameter: 't', target: 20, range: 2 }, ['t s.range 18', 't s.range 22']],
  [
    'inRange',
    { value: '${streamdata.flow}', lowerLimit: 1, upperLimit: 3 },
    ['flow s.lowerLimit 1', 'flow s.upperLimit 3'],
  ],
  ['condition', { condition: 'temperature > 80 and pressure <= -1.5' }, ['temperature s 80', 'pressure s -1.5']],
  ['streamingDataSensor', { parameter: 't', threshold: '${variables.limit}' }, ['t s.threshold 75']],
  ['streamingDataSensor', { parameter: 't', threshold: 'setpoint' }, []],
  ['hysteresis', { value: 'a + b', enter: 80, leave: 70 }, []],
  ['condition', { condition: { '>': [{ var: 't' }, 5] } }, []],
])('finds the limits of %s with %j', (name, properties, expected) => {
  const rule = { sensors: [{ label: 's', name, properties }], task: { variables: { limit: 5 } } }
  const found = thresholdsOf(rule, { limit: 75 }).map((one) => `${one.metric} ${one.name} ${one.value}`)
  expect(found).toEqual(expected)
})
