/** A sensor that is always ON, for actions that follow every run. */
import { definePlug } from '#plug'

export const alwaysON = definePlug({
  name: 'alwaysON',
  version: '1.0.0',
  kind: 'sensor',
  description: 'Always ON, for actions that follow every run.',
  category: 'Test',
  parameters: [],
  states: ['ON'],
  execute: () => 'ON',
})
