/** A sensor that is always ON, for actions that should follow every run. */
import { definePlug } from '#plug'

/** Always `ON`: for what should happen on every run. */
export const alwaysON = definePlug({
  name: 'alwaysON',
  version: '1.0.0',
  kind: 'sensor',
  description: 'Is always ON: for actions that should follow every run.',
  category: 'Test',
  parameters: [],
  states: ['ON'],
  execute: () => 'ON',
})
