/** A sensor whose bit flips with every run. */
import { definePlug } from '#plug'

export const bitflip = definePlug({
  name: 'bitflip',
  version: '1.0.0',
  compatible: '>=1.0.0 <2',
  kind: 'sensor',
  description: 'A bit that flips with every run. It begins at 0, so the first run shows 1.',
  category: 'Test',
  parameters: [],
  states: ['0', '1'],
  execute: ({ internalState }) =>
    internalState === 1 ? { state: '0', internalState: 0 } : { state: '1', internalState: 1 },
})
