/** Renders templates with the same output as Apache Velocity. */
export type { VelocityLimits } from './budget.ts'
export { Fault } from './fault.ts'
export { VelocityTemplate } from './template.ts'
export { JavaList } from './values/collections.ts'
export { type HostMethod, HostObject } from './values/host-object.ts'
export { jsonText } from './values/json-text.ts'
