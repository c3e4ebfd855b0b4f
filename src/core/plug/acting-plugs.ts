/** Builds a sensor and an actuator that perform the same action; the sensor also reports its outcome. */
import { messageOf } from '#kernel'
import { definePlug } from './define.ts'
import type {
  DefinedFields,
  DefinedPlug,
  InputField,
  OutputField,
  PlugContext,
  PropertiesOf,
  PropertyProblem,
  TouchContext,
} from './plug.ts'

type Inputs = Readonly<Record<string, InputField>>
type Outputs = Readonly<Record<string, OutputField>>

export interface Act<Input extends Inputs = Inputs, Name extends string = string, Output extends Outputs = Outputs> {
  name: Name
  version: string
  compatible?: string
  category: string
  /** one sentence, without the full stop */
  description: string
  input: Input
  output: Output
  touches(properties: PropertiesOf<Input>, context: TouchContext): readonly string[]
  check?(properties: Partial<PropertiesOf<Input>>): readonly PropertyProblem[]
  /** Performs the action. Rejects if it fails. */
  perform(context: PlugContext<PropertiesOf<Input>>): Promise<{ message: string; rawData: Record<string, unknown> }>
}

/** Raw data of the sensor. */
type Reported<Output extends Outputs> = Output & { readonly error: { readonly type: 'string' } }

/** The sensor shows Success, or Error with the reason. The actuator fails instead. */
export function actingPlugs<const Input extends Inputs, const Name extends string, const Output extends Outputs>({
  description,
  output,
  perform,
  ...shared
}: Act<Input, Name, Output>): readonly [
  DefinedPlug<Name, 'sensor', DefinedFields<Input>, 'Success' | 'Error', Reported<Output>>,
  DefinedPlug<Name, 'actuator', DefinedFields<Input>, never, Output>,
] {
  return [
    definePlug<Input, 'Success' | 'Error', unknown, Name, 'sensor', Reported<Output>>({
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
    definePlug<Input, never, unknown, Name, 'actuator', Output>({
      ...shared,
      kind: 'actuator',
      description: `${description}.`,
      output,
      // declared async: the action never finishes synchronously, and a replay of inputs must not repeat the call
      execute: async (context) => perform(context),
    }),
  ]
}
