/** Builds a sensor and an actuator that perform the same action; the sensor also reports its outcome. */
import { messageOf } from '#kernel'
import { definePlug } from './define.ts'
import type { InputField, OutputField, Plug, PlugContext, PropertiesOf, PropertyProblem, TouchContext } from './plug.ts'

export interface Act<Input extends Readonly<Record<string, InputField>>> {
  name: string
  version: string
  compatible?: string
  category: string
  /** one sentence, without the full stop */
  description: string
  input: Input
  output: Readonly<Record<string, OutputField>>
  touches(properties: PropertiesOf<Input>, context: TouchContext): readonly string[]
  check?(properties: Partial<PropertiesOf<Input>>): readonly PropertyProblem[]
  /** Performs the action. Rejects if it fails. */
  perform(context: PlugContext<PropertiesOf<Input>>): Promise<{ message: string; rawData: Record<string, unknown> }>
}

/** The sensor shows Success, or Error with the reason. The actuator fails instead. */
export function actingPlugs<const Input extends Readonly<Record<string, InputField>>>({
  description,
  output,
  perform,
  ...shared
}: Act<Input>): readonly Plug[] {
  return [
    definePlug<Input, 'Success' | 'Error', unknown>({
      ...shared,
      kind: 'sensor',
      acts: true,
      description: `${description}: Success, else Error.`,
      parameters: [],
      states: ['Success', 'Error'],
      output: { ...output, error: { type: 'string', description: 'reason of the failure; absent after a Success' } },
      async execute(context) {
        try {
          const { rawData } = await perform(context)
          return { state: 'Success', rawData }
        } catch (error) {
          return { state: 'Error', rawData: { error: messageOf(error) } }
        }
      },
    }),
    definePlug<Input, string, unknown>({
      ...shared,
      kind: 'actuator',
      description: `${description}.`,
      output,
      // declared async: the action never finishes synchronously, and a replay of inputs must not repeat the call
      execute: async (context) => perform(context),
    }),
  ]
}
