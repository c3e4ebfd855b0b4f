/** Creates nodes of rules over built-in plugs, in one line each. */
import type { Sensor } from '../../src/core/rule/rule.ts'

/** Creates a node without a resource: an actuator, or a sensor that a trigger runs. */
export const node = (
  label: string,
  name: string,
  properties: NonNullable<Sensor['properties']> = {},
  more: Partial<Sensor> = {},
): Sensor => ({ label, name, properties, ...more })

/** Creates a sensor on the task's resource. */
export const sensor = (...[label, name, properties, more]: Parameters<typeof node>): Sensor =>
  node(label, name, properties, { resource: '$', ...more })
