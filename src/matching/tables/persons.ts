/** First names and their short forms: `name|short forms`, one a line. Add a line. */
const FIRST_NAMES = `abigail|abby
  alexander|alex
  andrew|andy|drew
  anthony|tony
  benjamin|ben
  charles|charlie
  christopher|chris
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
  patrick|pat
  peter|pete
  philip|phillip|phil
  raymond|ray
  richard|rick|dick
  robert|rob|bob|bobby
  ronald|ron
  samuel|sam
  stephen|steven|steve
  theodore|teddy
  thomas|tom
  timothy|tim
  victoria|vicky
  vincent|vince
  william|bill|will
  zachary|zach|zack`;

const FULL = new Map(
  FIRST_NAMES.split('\n').flatMap((line) => {
    const [full = '', ...forms] = line.trim().split('|');
    return forms.map((form) => [form, full] as const);
  }),
);

/** The first name of a short form; the word itself if it is none. */
export const fullFirstName = (folded: string): string => FULL.get(folded) ?? folded;
