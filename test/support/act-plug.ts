import { type Plug } from '../../src/index.ts'
import { actuatorPlug } from './make-plug.ts'

/** Creates an actuator `act` that records the time and message of each call, as JSON. */
export function actPlug(fired: string[]): Plug {
  return actuatorPlug('act', ({ now, streamData }) => void fired.push(JSON.stringify([now, streamData])))
}
