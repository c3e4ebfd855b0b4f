import { type Plug } from '../../src/index.ts'
import { actuatorPlug } from './make-plug.ts'

/** An actuator `act` that writes down when it was called and with which message, as JSON. */
export function actPlug(fired: string[]): Plug {
  return actuatorPlug('act', ({ now, streamData }) => void fired.push(JSON.stringify([now, streamData])))
}
