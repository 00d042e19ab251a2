/** First names and their short forms: `name|short forms`, one a line. Add a line, but no form of names of both sexes. */
const FIRST_NAMES = `abigail|abby
  andrew|andy
  anthony|tony
  benjamin|ben
  charles|charlie
  daniel|dan|danny
  david|dave
  donald|don
  edward|ed|eddie
  elizabeth|liz|beth
  gregory|greg
  jacob|jake
  james|jim|jimmy
  jeffrey|jeff
  jonathan|jon
  joseph|joe
  joshua|josh
  kenneth|ken
  matthew|matt
  michael|mike
  nathaniel|nate
  nicholas|nick
  peter|pete
  philip|phil
  phillip|phil
  raymond|ray
  richard|rick|dick
  robert|rob|bob|bobby
  ronald|ron
  stephen|steve
  steven|steve
  theodore|teddy
  thomas|tom
  timothy|tim
  victoria|vicky
  vincent|vince
  william|bill|will
  zachary|zach|zack`;

const SHORT = new Set(
  FIRST_NAMES.split('\n').flatMap((line) => {
    const [full, ...forms] = line.trim().split('|');
    return forms.map((form) => `${form} ${full}`);
  }),
);

/** Whether a folded first name is a short form of another one. */
export const isShortFor = (short: string, full: string): boolean => SHORT.has(`${short} ${full}`);
