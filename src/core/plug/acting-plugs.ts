/** Two plugs of one act: a sensor that shows how it went, and an actuator. */
import { messageOf } from '#kernel'
import { definePlug } from './define.ts'
import type { InputField, OutputField, Plug, PlugContext, PropertiesOf, PropertyProblem, TouchContext } from './plug.ts'

/** Something done outside, as rules name it. */
export interface Act<Input extends Readonly<Record<string, InputField>>> {
  name: string
  /** `major.minor.patch` */
  version: string
  /** as in a definition */
  compatible?: string
  category: string
  /** one sentence, without the dot at its end */
  description: string
  input: Input
  /** raw data of what was done */
  output: Readonly<Record<string, OutputField>>
  /** what a call touches, as of plugs */
  touches(properties: PropertiesOf<Input>, context: TouchContext): readonly string[]
  /** as of plugs */
  check?(properties: Partial<PropertiesOf<Input>>): readonly PropertyProblem[]
  /** Rejects when it could not be done. */
  perform(context: PlugContext<PropertiesOf<Input>>): Promise<{ message: string; rawData: Record<string, unknown> }>
}

/** The same act twice: as a sensor that shows Success, or Error with the reason, and as an actuator that fails. */
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
      output: { ...output, error: { type: 'string', description: 'why it was not done; absent after a Success' } },
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
      // async itself, as it does not answer at once: whoever plays inputs again must not make the call
      execute: async (context) => perform(context),
    }),
  ]
}
