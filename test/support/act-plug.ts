import { definePlug, type Plug } from '../../src/index.ts'

/** An actuator `act` that writes down when it was called and with which message, as JSON. */
export function actPlug(fired: string[]): Plug {
  return definePlug({
    name: 'act',
    version: '1.0.0',
    kind: 'actuator',
    execute: ({ now, streamData }) => void fired.push(JSON.stringify([now, streamData])),
  })
}
