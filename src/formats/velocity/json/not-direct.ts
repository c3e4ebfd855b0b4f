/** Only the rendered text can tell what its value is, or what is wrong with it. */
export class NotDirect extends Error {}
