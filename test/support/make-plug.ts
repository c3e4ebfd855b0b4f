/** Creates plugs of version 1.0.0 in one line. */
import { definePlug, type Plug } from '../../src/index.ts'
import type { InputField, PlugDefinition } from '../../src/core/plug/plug.ts'

type Inputs = Readonly<Record<string, InputField>>
/** The rest of a plug's definition, or only its function. */
type Rest<Input extends Inputs, State extends string, Prepared> =
  | Omit<PlugDefinition<Input, State, Prepared>, 'name' | 'version' | 'kind' | 'states'>
  | PlugDefinition<Input, State, Prepared>['execute']

export function sensorPlug<const Input extends Inputs, State extends string = never, Prepared = undefined>(
  name: string,
  states: readonly State[],
  rest: Rest<Input, State, Prepared>,
): Plug {
  const more = typeof rest === 'function' ? { execute: rest } : rest
  return definePlug<Input, State, Prepared>({ name, version: '1.0.0', kind: 'sensor', states, ...more })
}

export function actuatorPlug<const Input extends Inputs, Prepared = undefined>(
  name: string,
  rest: Rest<Input, never, Prepared>,
): Plug {
  const more = typeof rest === 'function' ? { execute: rest } : rest
  return definePlug<Input, never, Prepared>({ name, version: '1.0.0', kind: 'actuator', ...more })
}
