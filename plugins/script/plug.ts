import {
  definePlug,
  isPlainObject,
  messageOf,
  type Plug,
  type PlugLog,
  problemsOfCode,
  scriptFunction,
  type ScriptFence,
  type ScriptLine,
} from '../../src/plug.ts'

const SEEDS = 4_294_967_296

/** Raw data made by a script that runs behind `fence`; the fence belongs to the plug, so that it is loaded once. */
export function createScript(fence: ScriptFence): Plug {
  return definePlug({
    name: 'script',
    version: '1.0.0',
    compatible: '>=1.0.0 <3',
    kind: 'sensor',
    description:
      'Runs a script in an interpreter of its own, with counted steps and memory and without anything of the machine. The object it gives becomes raw data. Gives Error, and no failure, when it throws, gives no object or goes beyond a limit.',
    category: 'Data',
    states: ['Success', 'Error'],
    input: {
      script: {
        type: 'string',
        mandatory: true,
        format: { type: 'code' },
        description:
          'a function of (options, send), or the body of one; options has streamData, rawData, internalState, task, node and now. It returns an object, or a promise of one, or calls send(error, object)',
        example: '(options) => ({ doubled: options.streamData.temperature * 2 })',
      },
    },
    output: { error: { type: 'string', description: 'why there is no object; only in state Error' } },
    openOutput: true,
    check: ({ script }) => problemsOfCode('script', script, scriptFunction),
    prepare: ({ script }) => scriptFunction(script),
    async execute(context) {
      const { prepared, streamData, rawData, internalState, task, node, now, log } = context
      const seed = Math.floor(context.random() * SEEDS)
      try {
        const input = { streamData, rawData, internalState, task, node, requiredProperties: {}, now, seed }
        const result = await fence.runCode(prepared, input)
        writeTo(log, result.log)
        if (isPlainObject(result.value)) return { state: 'Success', rawData: result.value }
        return failed('the script gives no object; let it return one such as { value: 1 }')
      } catch (error) {
        return failed(messageOf(error))
      }
    },
  })
}

function failed(error: string) {
  return { state: 'Error', rawData: { error } } as const
}

function writeTo(log: PlugLog, lines: readonly ScriptLine[]): void {
  for (const { level, message } of lines) {
    if (level === 'DEBUG') log.debug(message)
    else if (level === 'WARN') log.warn(message)
    else if (level === 'ERROR') log.error(message)
    else log.info(message)
  }
}
